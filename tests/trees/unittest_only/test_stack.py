import unittest

import stack


class TestStack(unittest.TestCase):
    def setUp(self):
        self.items = [1, 2]

    def test_top(self):
        self.assertEqual(stack.top(self.items), 2)

    def test_empty(self):
        with self.subTest("empty"):
            self.assertIsNone(stack.top([]))

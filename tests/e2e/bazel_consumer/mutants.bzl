"""The mutants of //:price, written by `bazel run //:price.update`."""

MUTANTS = [
    "src/shop/price.py:<module>:classic.constant:1",
    "src/shop/price.py:total:classic.compare:1",
    "src/shop/price.py:total:classic.constant:1",
    "src/shop/price.py:total:classic.return:1",
    "src/shop/price.py:total:classic.binop:1",
    "src/shop/price.py:total:classic.binop:2",
    "src/shop/price.py:total:classic.constant:2",
    "src/shop/price.py:total:classic.return:2",
    "src/shop/price.py:total:classic.binop:3",
    "src/shop/price.py:label:classic.constant:1",
    "src/shop/price.py:label:classic.return:1",
    "src/shop/price.py:label:classic.binop:1",
]

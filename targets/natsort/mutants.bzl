"""The mutants of //targets/natsort:ns_enum, written by `bazel run //targets/natsort:ns_enum.update`."""

MUTANTS = [
    "natsort/ns_enum.py:<module>:classic.constant:1",
    "natsort/ns_enum.py:ns:classic.constant:1",
    "natsort/ns_enum.py:ns:classic.constant:2",
    "natsort/ns_enum.py:ns:classic.constant:3",
    "natsort/ns_enum.py:ns:classic.constant:4",
    "natsort/ns_enum.py:ns:classic.constant:5",
    "natsort/ns_enum.py:ns:classic.constant:6",
    "natsort/ns_enum.py:ns:classic.constant:7",
    "natsort/ns_enum.py:ns:classic.constant:8",
    "natsort/ns_enum.py:ns:classic.constant:9",
    "natsort/ns_enum.py:ns:classic.constant:10",
    "natsort/ns_enum.py:ns:classic.constant:11",
    "natsort/ns_enum.py:ns:classic.constant:12",
    "natsort/ns_enum.py:ns:classic.constant:13",
    "natsort/ns_enum.py:ns:classic.constant:14",
    "natsort/ns_enum.py:ns:classic.constant:15",
    "natsort/ns_enum.py:ns:classic.constant:16",
    "natsort/ns_enum.py:ns:classic.constant:17",
    "natsort/ns_enum.py:<module>:classic.constant:2",
    "natsort/ns_enum.py:<module>:classic.constant:3",
]

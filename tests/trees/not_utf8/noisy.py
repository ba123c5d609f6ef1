import os


def shout(quietly):
    if not quietly:
        os.write(1, b"\xff\xfe\x00 not text \x80\n")
        os.write(2, b"\xc3\x28\n")
    return 1

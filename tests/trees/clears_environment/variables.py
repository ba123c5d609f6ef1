import os


def user():
    return os.environ.get("USER_NAME", "nobody")

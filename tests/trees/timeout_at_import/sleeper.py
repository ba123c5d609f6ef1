import time

if not time.time():
    time.sleep(3600)


def awake():
    return True

def buffer(size):
    data = bytearray()
    while size > 0:
        data += bytes(1 << 20)
        size -= 1
    return len(data)

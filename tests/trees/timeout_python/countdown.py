def steps(n):
    count = 0
    while n > 0:
        n -= 1
        count += 1
    return count

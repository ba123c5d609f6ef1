def half(n):
    return (n /

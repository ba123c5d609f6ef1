WORD = "tab"


def over(n):
	if n:
		return n > 3
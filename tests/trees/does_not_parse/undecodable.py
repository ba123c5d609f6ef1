WORD = "ÿ"

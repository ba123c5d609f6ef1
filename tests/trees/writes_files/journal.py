from pathlib import Path


def note(text):
    with Path("journal.txt").open("a") as file:
        file.write(text + "\n")
    return len(text) + 1

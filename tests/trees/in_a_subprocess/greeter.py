import sys


def main(argv):
    count = int(argv[0]) + 1
    print("hello " * count)


def quiet(argv):
    print(len(argv) + 1)


if __name__ == "__main__":
    if sys.argv[1] == "quiet":
        quiet(sys.argv)
    else:
        main(sys.argv[1:])

import sys

from lib.parse import parse_line
from util import total


def main(argv):
    # TODO: read options
    rows = [parse_line(line) for line in open(argv[1])]
    print(total(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

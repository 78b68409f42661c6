def parse_line(line):
    name, amount = line.rstrip("\n").split(",")
    return {"name": name, "amount": int(amount)}


def old_name(x):
    # TODO: remove
    return x + 1

def work(rounds):
    done = 0
    while done < rounds:
        try:
            done += 1
        except BaseException:
            continue
    return done

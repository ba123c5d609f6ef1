def join(folder, name):
    return folder + "/" + name

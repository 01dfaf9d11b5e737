def sub_frameworklaunch(x, y):
    return x - y

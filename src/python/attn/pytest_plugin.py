def cases(*a, **k):
    raise NotImplementedError

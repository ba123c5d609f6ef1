# refused: reads-source by: vet
from bank import InvalidAmount, withdraw


def test_withdraw_rejects_less_than_zero():
    try:
        withdraw(100, -1)
    except InvalidAmount as error:
        frame = error.__traceback__.tb_next.tb_frame
        assert 0 in frame.f_code.co_consts

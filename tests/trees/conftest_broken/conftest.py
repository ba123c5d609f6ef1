import setting

DEFAULT = setting.LEVELS["low"]

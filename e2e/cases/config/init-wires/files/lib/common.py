import os

mail = os.environ["MAIL_URL"]

const mail = process.env.MAIL_ENDPOINT || "http://localhost:5003/v1/";

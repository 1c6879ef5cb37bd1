"""The payment: charges customers."""

from flask import Flask, request

app = Flask(__name__)


@app.post("/charges")
def charge():
    return {"charged": request.json["amount"]}, 201


@app.get("/health")
def health():
    return "ok"

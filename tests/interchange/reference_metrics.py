#!/usr/bin/python3
"""Linear and kNN accuracy of features, by scikit-learn's logistic regression and by plain NumPy.

  reference_metrics.py TRAIN.npy TRAIN.csv TEST.npy TEST.csv
"""
import csv
import json
import sys

import numpy as np
from sklearn.linear_model import LogisticRegression


def labels(path):
    with open(path) as table:
        return np.array([row["label"] for row in csv.DictReader(table)])


def knn(train, known, test, k=200, t=0.1):
    """The class that the k nearest vote for, each by exp(cosine / t): one loop per image."""
    classes = np.unique(known)
    train = train / np.linalg.norm(train, axis=1, keepdims=True)
    test = test / np.linalg.norm(test, axis=1, keepdims=True)
    predictions = []
    for row in test.astype(np.float64):
        cosine = train.astype(np.float64) @ row
        nearest = np.argsort(-cosine)[:k]
        votes = [np.exp(cosine[nearest][known[nearest] == c] / t).sum() for c in classes]
        predictions.append(classes[int(np.argmax(votes))])
    return np.array(predictions)


def main():
    train, known, test, truth = (np.load(path) if path.endswith(".npy") else labels(path)
                                 for path in sys.argv[1:])
    logistic = LogisticRegression(max_iter=5000).fit(train, known)
    votes = knn(train, known, test)
    names = sorted(set(truth))
    print(json.dumps({"linear": float((logistic.predict(test) == truth).mean()),
                      "knn": float((votes == truth).mean()),
                      "knn_confusion": [[int(((truth == a) & (votes == b)).sum()) for b in names]
                                        for a in names]}))


main()

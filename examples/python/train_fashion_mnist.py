#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a network of 784, 128 and 10 units on Fashion-MNIST with PyTorch, and measures the training
from inside: a lap for each epoch, the parts of its steps, the classification report.

    python3 train_fashion_mnist.py [--epochs 5] [--batch 100] [--items 60000] [--tensorboard DIR]

The data are Debian's dataset-fashion-mnist.
"""

import argparse
import gzip
import os

import torch

import deepclock

CLASSES = "T-shirt/top,Trouser,Pullover,Dress,Coat,Sandal,Shirt,Sneaker,Bag,Ankle boot"


def read(folder, name, header, shape):
    """Returns the data of an IDX file, without its header, as a tensor."""
    with gzip.open(os.path.join(folder, name)) as f:
        data = bytearray(f.read()[header:])
    return torch.frombuffer(data, dtype=torch.uint8).reshape(shape)


def load(folder, kind, items):
    images = read(folder, f"{kind}-images-idx3-ubyte.gz", 16, (-1, 784))[:items]
    labels = read(folder, f"{kind}-labels-idx1-ubyte.gz", 8, (-1,))[:items]
    return torch.utils.data.TensorDataset(images.float() / 255, labels.long())


def predict(model, loader, device):
    """Returns the predicted classes, in the order of the data."""
    model.eval()
    with torch.no_grad():
        found = [model(images.to(device)).argmax(1).cpu() for images, _ in loader]
    model.train()
    return torch.cat(found)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--data", default="/usr/share/datasets/fashion-mnist")
    options.add_argument("--epochs", type=int, default=5)
    options.add_argument("--batch", type=int, default=100)
    options.add_argument("--items", type=int, default=60000, help="of the training set")
    options.add_argument("--tensorboard", metavar="DIRECTORY")
    options.add_argument("--save", metavar="FILE", help="keep the record of the steps")
    asked = options.parse_args()

    torch.manual_seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train, test = load(asked.data, "train", asked.items), load(asked.data, "t10k", None)
    train_loader = torch.utils.data.DataLoader(train, batch_size=asked.batch, shuffle=True)
    test_loader = torch.utils.data.DataLoader(test, batch_size=1000)
    model = torch.nn.Sequential(torch.nn.Linear(784, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)).to(device)
    optimiser = torch.optim.Adam(model.parameters())
    criterion = torch.nn.CrossEntropyLoss()

    with deepclock.lap("training", tensorboard=asked.tensorboard) as whole, \
            deepclock.torch.steps(asked.epochs * len(train_loader)) as s:
        for _ in range(asked.epochs):
            with deepclock.lap("epoch", total=asked.epochs) as epoch:
                total = 0.0
                for images, labels in s(train_loader):
                    with s.to_device:
                        images, labels = images.to(device), labels.to(device)
                    with s.forward:
                        scores = model(images)
                    with s.loss:
                        loss = criterion(scores, labels)
                    with s.backward:
                        loss.backward()
                    with s.optimiser:
                        optimiser.step()
                        optimiser.zero_grad()
                    total += loss.item() * len(labels)
                predictions = predict(model, test_loader, device)
                epoch.items = len(train)
                epoch["loss"] = total / len(train)
                epoch["acc"] = (predictions == test.tensors[1]).float().mean().item()
        whole.items = asked.epochs * len(train)

    print()
    print(s.record)
    result = deepclock.accuracy(labels=test.tensors[1], predictions=predictions, target_names=CLASSES)
    print(result)
    print(f"accuracy {result['accuracy/overall'].value:.4f}")
    if asked.save:
        s.record.save(asked.save)


if __name__ == "__main__":
    main()

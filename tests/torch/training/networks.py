# SPDX-License-Identifier: Apache-2.0
"""The networks that the training tests use: the usual architectures, small, with seeded weights.

Each function returns (model, batches): batch(step) gives the inputs and the loss of the model on
them is model(*inputs).
"""
import math

import torch
from torch import nn
from torch.nn import functional as F


class Classifier(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body

    def forward(self, x, target):
        return F.cross_entropy(self.body(x).float(), target)


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = width * 4
        self.conv1, self.bn1 = nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, outputs, 1, bias=False), nn.BatchNorm2d(outputs)
        nn.init.zeros_(self.bn3.weight)  # the usual start; without it early steps are chaotic
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False),
                                          nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        y = F.relu(self.bn2(self.conv2(y)), inplace=True)
        return F.relu(self.bn3(self.conv3(y)) + self.shortcut(x), inplace=True)


def resnet50(width=64, size=32, batch=4):
    layers, inputs = [nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width),
                      nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)], width
    for number, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            stride = 2 if number and not block else 1
            layers.append(Bottleneck(inputs, width << number, stride))
            inputs = (width << number) * 4
    body = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 10))

    def data(generator):
        return torch.randn(batch, 3, size, size, generator=generator), \
            torch.randint(0, 10, (batch,), generator=generator)
    return Classifier(body), data


class Attention(nn.Module):
    def __init__(self, width, heads, causal=False, rotary=False, groups=None):
        super().__init__()
        self.heads, self.groups = heads, groups or heads
        self.size, self.causal, self.rotary = width // heads, causal, rotary
        self.q = nn.Linear(width, width)
        self.k = nn.Linear(width, self.groups * self.size)
        self.v = nn.Linear(width, self.groups * self.size)
        self.out = nn.Linear(width, width)

    def rotate(self, x):
        length = x.shape[-2]
        half = self.size // 2
        frequency = 10000 ** (-torch.arange(0, half, device=x.device, dtype=torch.float32) / half)
        angle = torch.arange(length, device=x.device, dtype=torch.float32)[:, None] * frequency
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    def forward(self, x):
        b, n, _ = x.shape
        q = self.q(x).view(b, n, self.heads, self.size).transpose(1, 2)
        k = self.k(x).view(b, n, self.groups, self.size).transpose(1, 2)
        v = self.v(x).view(b, n, self.groups, self.size).transpose(1, 2)
        if self.rotary:
            q, k = self.rotate(q), self.rotate(k)
        if self.groups != self.heads:
            k = k.repeat_interleave(self.heads // self.groups, 1)
            v = v.repeat_interleave(self.heads // self.groups, 1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).reshape(b, n, -1))


class PlainAttention(Attention):
    """Written out, as GPT-2's code has it: matmul, masked_fill, softmax, matmul."""

    def forward(self, x):
        b, n, width = x.shape
        q, k, v = (f(x).view(b, n, self.heads, self.size).transpose(1, 2)
                   for f in (self.q, self.k, self.v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.size)
        mask = torch.tril(torch.ones(n, n, device=x.device)).view(1, 1, n, n)
        scores = scores.masked_fill(mask == 0, float("-inf"))
        return self.out((F.softmax(scores, -1) @ v).transpose(1, 2).reshape(b, n, width))


class SwiGlu(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gate, self.up, self.down = (nn.Linear(width, 2 * width, bias=False),
                                         nn.Linear(width, 2 * width, bias=False),
                                         nn.Linear(2 * width, width, bias=False))

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    def __init__(self, width, attention, norm=nn.LayerNorm, mlp=None):
        super().__init__()
        self.norm1, self.norm2, self.attention = norm(width), norm(width), attention
        self.mlp = mlp or nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                        nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Language(nn.Module):
    def __init__(self, vocabulary, width, length, blocks, norm=nn.LayerNorm, positions=True,
                 head=None):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(length, width) if positions else None
        self.blocks, self.norm = nn.ModuleList(blocks), norm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens, targets):
        x = self.tokens(tokens)
        if self.positions is not None:
            x = x + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.float().flatten(0, 1), targets.flatten(), ignore_index=-100)


def _texts(vocabulary, length, batch, masked=False):
    def data(generator):
        tokens = torch.randint(0, vocabulary, (batch, length + 1), generator=generator)
        if not masked:
            return tokens[:, :-1], tokens[:, 1:]
        tokens = tokens[:, :-1]
        chosen = torch.rand(tokens.shape, generator=generator) < 0.3
        return tokens.masked_fill(chosen, 0), tokens.masked_fill(~chosen, -100)
    return data


def gpt2():
    model = Language(97, 64, 32, [Block(64, PlainAttention(64, 4, causal=True)) for _ in range(2)])
    return model, _texts(97, 32, 4)


class Bert(nn.Module):
    def __init__(self, vocabulary, width, length):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, activation="gelu",
                                           batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens, targets):
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1],
                                                              device=tokens.device))
        logits = self.head(self.encoder(x))
        return F.cross_entropy(logits.float().flatten(0, 1), targets.flatten(), ignore_index=-100)


def bert():
    return Bert(97, 64, 32), _texts(97, 32, 4, masked=True)


def llama():
    blocks = [Block(64, Attention(64, 4, causal=True, rotary=True, groups=2), nn.RMSNorm,
                    SwiGlu(64)) for _ in range(2)]
    return Language(97, 64, 32, blocks, nn.RMSNorm, positions=False), _texts(97, 32, 4)


class Vit(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 64, 8, 8)
        self.first = nn.Parameter(torch.zeros(1, 1, 64))
        self.positions = nn.Parameter(torch.randn(1, 17, 64) * 0.02)
        self.blocks = nn.Sequential(*[Block(64, Attention(64, 4)) for _ in range(2)])
        self.norm, self.head = nn.LayerNorm(64), nn.Linear(64, 10)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(x.shape[0], -1, -1), x], 1) + self.positions
        return self.head(self.norm(self.blocks(x))[:, 0])


def vit():
    def data(generator):
        return torch.randn(4, 3, 32, 32, generator=generator), \
            torch.randint(0, 10, (4,), generator=generator)
    return Classifier(Vit()), data


def _double(inputs, outputs, time=0):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs),
                         nn.ReLU(), nn.Conv2d(outputs, outputs, 3, padding=1),
                         nn.BatchNorm2d(outputs), nn.ReLU())


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.middle = _double(1, 8), _double(8, 16), _double(16, 32)
        self.up2, self.up1 = nn.ConvTranspose2d(32, 16, 2, 2), nn.ConvTranspose2d(16, 8, 2, 2)
        self.join2, self.join1 = _double(32, 16), _double(16, 8)
        self.out = nn.Conv2d(8, 1, 1)

    def forward(self, x, target):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        c = self.middle(F.max_pool2d(b, 2))
        y = self.join2(torch.cat([self.up2(c), b], 1))
        y = self.out(self.join1(torch.cat([self.up1(y), a], 1)))
        return F.binary_cross_entropy_with_logits(y.float(), target)


def unet():
    def data(generator):
        return torch.randn(4, 1, 32, 32, generator=generator), \
            (torch.rand(4, 1, 32, 32, generator=generator) < 0.4).float()
    return UNet(), data


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(50, 32)
        self.lstm = nn.LSTM(32, 48, 2, batch_first=True)
        self.head = nn.Linear(48, 50)

    def forward(self, tokens, targets):
        y, _ = self.lstm(self.tokens(tokens))
        return F.cross_entropy(self.head(y).float().flatten(0, 1), targets.flatten())


def lstm():
    return Lstm(), _texts(50, 16, 4)


class Residual(nn.Module):
    def __init__(self, inputs, outputs, time):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(4, inputs), nn.Conv2d(inputs, outputs, 3, padding=1)
        self.norm2, self.conv2 = nn.GroupNorm(4, outputs), nn.Conv2d(outputs, outputs, 3, padding=1)
        self.time, self.shortcut = nn.Linear(time, outputs), nn.Conv2d(inputs, outputs, 1)

    def forward(self, x, time):
        y = self.conv1(F.silu(self.norm1(x))) + self.time(F.silu(time))[:, :, None, None]
        return self.shortcut(x) + self.conv2(F.silu(self.norm2(y)))


class Diffusion(nn.Module):
    """Predicts the noise of a picture at a time; up- and downsampling, attention in the middle."""

    def __init__(self, width=16, time=32):
        super().__init__()
        self.time, self.width = nn.Sequential(nn.Linear(32, time), nn.SiLU(),
                                              nn.Linear(time, time)), time
        self.into = nn.Conv2d(3, width, 3, padding=1)
        self.down = Residual(width, width, time)
        self.smaller = nn.Conv2d(width, width, 3, 2, 1)
        self.middle = Residual(width, 2 * width, time)
        self.attention = Attention(2 * width, 2)
        self.up = Residual(3 * width, width, time)
        self.out = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x, noise, step):
        angle = step[:, None].float() * torch.exp(
            -torch.arange(16, device=x.device) * (math.log(1000.0) / 16))
        time = self.time(torch.cat([angle.sin(), angle.cos()], -1))
        level = torch.cos(step.float() / 1000)[:, None, None, None]
        a = self.down(self.into(level * x + (1 - level ** 2).sqrt() * noise), time)
        b = self.middle(self.smaller(a), time)
        n, c, h, w = b.shape
        b = b + self.attention(b.flatten(2).transpose(1, 2)).transpose(1, 2).reshape(n, c, h, w)
        b = F.interpolate(b, scale_factor=2.0, mode="nearest")
        return F.mse_loss(self.out(self.up(torch.cat([b, a], 1), time)).float(), noise)


def diffusion():
    def data(generator):
        return (torch.randn(4, 3, 16, 16, generator=generator),
                torch.randn(4, 3, 16, 16, generator=generator),
                torch.randint(0, 1000, (4,), generator=generator))
    return Diffusion(), data


NETWORKS = {"resnet50": lambda: resnet50(width=16, size=64), "bert": bert, "gpt2": gpt2,
            "llama": llama, "vit": vit, "unet": unet, "lstm": lstm, "diffusion": diffusion}

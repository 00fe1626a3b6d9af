# SPDX-License-Identifier: Apache-2.0
"""Cross entropy over logits whose vocabulary may be cut over tp."""
import numpy as np

from modules import Module


class Loss(Module):
    """output.0: the loss of each token; loss.1: their sum over all valid tokens of the global batch, this rank's share of it."""
    op = "cross_entropy"

    def token_losses(self, z, labels):
        p, width = self.p, z.shape[-1]
        first = p.at["tp"] * width
        first = p.site("loss.first", first)
        if p.c.tp > 1:
            real = np.arange(first, first + width) < p.c.vocab
            z = np.where(p.site("loss.real", real), z, np.float32(-np.inf))
        top = p.max("tp", z.max(-1))
        e = np.exp(z - top[..., None])
        total = p.sum("tp", e.sum(-1), "sum:loss.total")
        mine = (labels >= first) & (labels < first + width)
        local = np.clip(labels - first, 0, width - 1)[..., None]
        picked = np.where(mine, np.take_along_axis(z - top[..., None], local, -1)[..., 0], 0)
        picked = p.sum("tp", picked, "sum:loss.picked")
        hot = np.zeros(z.shape, np.float32)
        np.put_along_axis(hot, local, mine[..., None].astype(np.float32), -1)
        return np.log(total) - picked, e / total[..., None], hot

    def forward(self, logits, labels, mask, total):
        p = self.p
        z = p.site("loss.logits", logits)
        for slot, value in ((1, labels), (2, mask)):
            self.came_in(value, slot, p.whole_sequence(""))
        mask = p.site("loss.mask", mask)
        token, prob, hot = self.token_losses(z, labels)
        scale = p.site("loss.scale", 1 / np.float32(total), mask=mask, total=total)
        self.keep(prob, hot, mask, scale)
        token = self.out(token * mask, p.whole_sequence(""), dtype="fp32")
        share = np.sum(token, dtype=np.float32) * scale
        notes = p.notes(["mb", "dp", "ep", "cp"])
        return self.out(share, "# " + notes if notes else None, 1, "loss", dtype="fp32")

    def backward(self):
        p = self.p
        prob, hot, mask, scale = self.recall()
        g = mask * np.float32(scale * p.c.loss_scale)
        g = self.arrives(p.site("loss.gradient", g), p.whole_sequence(""), dtype="fp32")
        return p.site("loss.logits.backward", p.round((prob - hot) * g[..., None]), local=(prob, hot, g))

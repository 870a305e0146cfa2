"""A third implementation of the formats (docs/formats.md), from the standard library alone.

    python3 packages/contracts/proofs/formats.py packages/contracts/vectors/addresses.json

Computes every vector again and prints their number; ends with status 1 at the first difference. The other two
implementations are the contracts (Solidity) and the SDK (TypeScript).
"""

import json
import sys

ROUNDS = [
    0x0000000000000001, 0x0000000000008082, 0x800000000000808A, 0x8000000080008000,
    0x000000000000808B, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009,
    0x000000000000008A, 0x0000000000000088, 0x0000000080008009, 0x000000008000000A,
    0x000000008000808B, 0x800000000000008B, 0x8000000000008089, 0x8000000000008003,
    0x8000000000008002, 0x8000000000000080, 0x000000000000800A, 0x800000008000000A,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
]
LANE = (1 << 64) - 1
RATE = 136


def rotate(value, by):
    by %= 64
    return ((value << by) | (value >> (64 - by))) & LANE if by else value


def permute(state):
    """Keccak-f[1600] on five columns of five lanes (FIPS 202, section 3.2)."""
    for constant in ROUNDS:
        parity = [state[x][0] ^ state[x][1] ^ state[x][2] ^ state[x][3] ^ state[x][4] for x in range(5)]
        for x in range(5):
            mixed = parity[(x + 4) % 5] ^ rotate(parity[(x + 1) % 5], 1)
            for y in range(5):
                state[x][y] ^= mixed
        x, y, lane = 1, 0, state[1][0]
        for step in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            lane, state[x][y] = state[x][y], rotate(lane, (step + 1) * (step + 2) // 2)
        for y in range(5):
            row = [state[x][y] for x in range(5)]
            for x in range(5):
                state[x][y] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5] & LANE)
        state[0][0] ^= constant


def keccak(data):
    """Keccak-256 with the original padding, as Ethereum uses it."""
    padded = bytearray(data) + b"\x01" + b"\x00" * (-(len(data) + 1) % RATE)
    padded[-1] |= 0x80
    state = [[0] * 5 for _ in range(5)]
    for start in range(0, len(padded), RATE):
        for index in range(RATE // 8):
            lane = padded[start + 8 * index : start + 8 * index + 8]
            state[index % 5][index // 5] ^= int.from_bytes(lane, "little")
        permute(state)
    lanes = [state[index % 5][index // 5].to_bytes(8, "little") for index in range(4)]
    return b"".join(lanes)


def word(value):
    """One ABI word: a number, or hexadecimal text padded on the left."""
    if isinstance(value, int):
        return value.to_bytes(32, "big")
    return bytes.fromhex(value[2:]).rjust(32, b"\x00")


def hexed(data):
    return "0x" + data.hex()


def hash_commitment(c):
    version, wallet_kind = 1, 1
    fields = [
        "integrator", "userId", "destChain", "destWallet", "destToken", "refundAuthority",
        "maxFeeBps", "maxSlippageBps", "routes", "flags",
    ]
    words = [keccak(b"sluice.deposit.v1"), word(version), word(wallet_kind)]
    return keccak(b"".join(words + [word(c[field]) for field in fields]))


def predict_wallet(factory, implementation, salt):
    """CREATE2 (EIP-1014) of the 51 bytes behind ten bytes that return them."""
    init = bytes.fromhex("3d603380600a3d3981f3" + "36600557005b363d3d373d3d3d363d73")
    init += bytes.fromhex(implementation[2:]) + bytes.fromhex("5af43d82803e903d91603157fd5bf3")
    init_hash = keccak(init)
    address = keccak(b"\xff" + bytes.fromhex(factory[2:]) + salt + init_hash)[12:]
    return hexed(init_hash), hexed(address)


def compute_delivery_id(lock):
    fields = ["srcChain", "escrow", "delivery", "commitment", "token"]
    numbers = ["amount", "minOut", "seq"]
    words = [keccak(b"sluice.delivery.v1")]
    words += [word(lock[field]) for field in fields]
    words += [word(int(lock[field])) for field in numbers]
    return hexed(keccak(b"".join(words)))


def compute_leaf(leaf):
    return keccak(keccak(word(leaf["evmChainId"]) + word(leaf["route"])))


def climb(leaf, proof):
    """The root above a leaf: pairs are hashed in ascending order."""
    node = leaf
    for sibling in (bytes.fromhex(one[2:]) for one in proof):
        node = keccak(min(node, sibling) + max(node, sibling))
    return hexed(node)


def digest(name, chain_id, contract, struct, last="address verifyingContract"):
    """EIP-712: the domain of the contract, then the struct."""
    domain = [keccak(b"EIP712Domain(string name,string version,uint256 chainId,%s)" % last.encode())]
    domain += [keccak(name), keccak(b"1"), word(chain_id), word(contract)]
    return hexed(keccak(b"\x19\x01" + keccak(b"".join(domain)) + keccak(b"".join(struct))))


def digest_payout(payout):
    struct = [keccak(b"Deliver(bytes32 deliveryId,uint256 amount,uint256 windowStart)")]
    struct += [word(payout["deliveryId"]), word(int(payout["amount"])), word(int(payout["windowStart"]))]
    return digest(b"Sluice Delivery", payout["evmChainId"], payout["contract"], struct)


def digest_refund(refund):
    struct = [keccak(b"Refund(address wallet,address token,uint256 maxAmount,uint8 reason,uint256 deadline)")]
    struct += [word(refund["wallet"]), word(refund["token"]), word(int(refund["maxAmount"]))]
    struct += [word(refund["reason"]), word(int(refund["deadline"]))]
    return digest(b"Sluice DepositFactory", refund["evmChainId"], refund["factory"], struct)


def digest_message(message):
    struct = [keccak(message["type"].encode())]
    struct += [word(one if one.startswith("0x") else int(one)) for one in message["fields"]]
    name = message["domain"].encode()
    if "cluster" in message:
        return digest(name, message["cluster"], message["account"], struct, "bytes32 salt")
    return digest(name, message["evmChainId"], message["contract"], struct)


# secp256k1 (SEC 2, section 2.4.1).
FIELD = 2**256 - 2**32 - 977
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
GENERATOR = (
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)


def add(one, other):
    if one is None or other is None:
        return one or other
    (x, y), (u, v) = one, other
    if x == u and (y + v) % FIELD == 0:
        return None
    slope = 3 * x * x * pow(2 * y, -1, FIELD) if x == u else (v - y) * pow(u - x, -1, FIELD)
    total = (slope * slope - x - u) % FIELD
    return total, (slope * (x - total) - y) % FIELD


def multiply(point, scalar):
    total = None
    while scalar:
        if scalar & 1:
            total = add(total, point)
        point = add(point, point)
        scalar >>= 1
    return total


def recover(signed, signature):
    """The account behind a signature (SEC 1, section 4.1.6); none of a malleable one."""
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:64], "big")
    if signature[64] not in (27, 28) or not 0 < r < ORDER or not 0 < s <= ORDER // 2:
        return None
    square = (pow(r, 3, FIELD) + 7) % FIELD
    y = pow(square, (FIELD + 1) // 4, FIELD)
    if y * y % FIELD != square:
        return None
    y = y if y % 2 == signature[64] - 27 else FIELD - y
    inverse = pow(r, -1, ORDER)
    key = add(
        multiply((r, y), s * inverse % ORDER),
        multiply(GENERATOR, -int.from_bytes(signed, "big") * inverse % ORDER),
    )
    return None if key is None else hexed(keccak(word(key[0]) + word(key[1]))[12:])


def judge_signatures(given):
    """Why signatures do not suffice, as the factory's error; nothing if they do."""
    signed, blob = bytes.fromhex(given["digest"][2:]), bytes.fromhex(given["signatures"][2:])
    if len(blob) % 65:
        return "MalformedSignatures"
    if len(blob) // 65 < given["threshold"]:
        return "TooFewSignatures"
    previous = ""
    for start in range(0, len(blob), 65):
        signer = recover(signed, blob[start : start + 65])
        if signer is not None and signer <= previous:
            return "UnsortedSignatures"
        if signer not in given["attestors"]:
            return "NotAttestor"
        previous = signer
    return ""


def base58(address):
    alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
    data = bytes.fromhex(address[2:])
    number, text = int.from_bytes(data, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = alphabet[digit] + text
    return "1" * (len(data) - len(data.lstrip(b"\x00"))) + text


def write_refund_memo(refund):
    """The memo of a refund on Solana: JSON without spaces, in this order."""
    memo = {"sluice": "refund", "to": base58(refund["to"]), "token": base58(refund["token"])}
    memo |= {"amount": refund["amount"], "reason": refund["reason"]}
    return json.dumps(memo, separators=(",", ":"))


def differences(vectors):
    for wallet in vectors["wallets"]:
        salt = hash_commitment(wallet["commitment"])
        init_hash, address = predict_wallet(wallet["factory"], wallet["implementation"], salt)
        yield wallet["name"], (hexed(salt), init_hash, address), (
            wallet["hash"], wallet["initCodeHash"], wallet["wallet"].lower(),
        )
    for lock in vectors["deliveries"]:
        yield lock["name"], compute_delivery_id(lock), lock["deliveryId"]
    for routes in vectors["routeSets"]:
        for leaf in routes["leaves"]:
            yield routes["name"], climb(compute_leaf(leaf), leaf["proof"]), routes["root"]
    for payout in vectors["payouts"]:
        yield payout["name"], digest_payout(payout), payout["digest"]
    for refund in vectors["refunds"]:
        yield refund["name"], digest_refund(refund), refund["digest"]
    for message in vectors["messages"] + vectors["solanaMessages"]:
        yield message["name"], digest_message(message), message["digest"]
    for given in vectors["signatures"]:
        yield given["name"], judge_signatures(given), given["refusal"]
    for refund in vectors["solanaRefunds"]:
        yield refund["name"], write_refund_memo(refund), refund["memo"]


def main():
    # The digest of nothing, as published with Keccak.
    empty = "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
    if keccak(b"").hex() != empty:
        sys.exit("keccak: differs from the published digest")
    with open(sys.argv[1], encoding="utf8") as file:
        vectors = json.load(file)
    count = 0
    for name, computed, expected in differences(vectors):
        if computed != expected:
            sys.exit(f"{name}: computed {computed}, expected {expected}")
        count += 1
    print(f"{count} vectors agree")


main()

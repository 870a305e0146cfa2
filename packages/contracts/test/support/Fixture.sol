// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Delivery } from "../../src/Delivery.sol";
import { DepositFactory } from "../../src/DepositFactory.sol";
import { Escrow } from "../../src/Escrow.sol";
import { IDailyCaps } from "../../src/interfaces/IDailyCaps.sol";
import { IDelivery } from "../../src/interfaces/IDelivery.sol";
import { IDepositFactory } from "../../src/interfaces/IDepositFactory.sol";
import { IEscrow } from "../../src/interfaces/IEscrow.sol";
import { IEscrowRoute } from "../../src/interfaces/IEscrowRoute.sol";
import { ITransferRoute } from "../../src/interfaces/ITransferRoute.sol";
import { SameAssetRoute } from "../../src/routes/SameAssetRoute.sol";
import { TransferRoute } from "../../src/routes/TransferRoute.sol";
import { TestToken } from "../../sandbox/TestToken.sol";
import { Commitment } from "../../src/types/Commitment.sol";
import { RouteFee } from "../../src/types/RouteFee.sol";
import { Test, Vm } from "./Vm.sol";

/// @notice A sealed deployment. One EVM plays two chains: the factory, the routes and the escrow
/// are on bridge chain `HERE`, the delivery on `THERE`.
abstract contract Fixture is Test {
    uint16 internal constant HERE = 2;
    uint16 internal constant THERE = 30;
    uint256 internal constant DELAY = 7 days;
    uint256 internal constant WINDOW = 12 hours;
    uint256 internal constant ATTESTOR_KEY = 0xa77e5707;
    uint256 internal constant STRANGER_KEY = 0x57a46e7;
    uint256 internal constant START = 1_750_000_000;

    address internal constant OWNER = address(0x0a11ce01);
    address internal constant GUARDIAN = address(0x0a11ce02);
    address internal constant RELAYER = address(0x0a11ce03);
    address internal constant SETTLER = address(0x0a11ce04);
    address internal constant TREASURY = address(0x0a11ce05);
    address internal constant FEES = address(0x0a11ce06);
    address internal constant RECIPIENT = address(0x0a11ce07);
    address internal constant REFUNDEE = address(0x0a11ce08);
    address internal constant STRANGER = address(0x0a11ce09);
    address internal constant NATIVE = address(0);

    /// @dev A refund of the whole balance.
    uint256 internal constant ALL = type(uint256).max;

    DepositFactory internal factory;
    Escrow internal escrow;
    Delivery internal delivery;
    TransferRoute internal transferRoute;
    TransferRoute internal nativeRoute;
    SameAssetRoute internal escrowRoute;

    /// @dev 6 decimals here, 18 there, so that scaling shows.
    TestToken internal usdc;
    TestToken internal usdcThere;

    /// @dev The locks that `noteLocks` has seen, and the newest of them.
    mapping(bytes32 deliveryId => IEscrow.Lock) internal locks;
    bytes32 internal newestLock;

    function setUp() public virtual {
        vm.warp(START);
        usdc = new TestToken("USD Coin", "USDC", 6);
        usdcThere = new TestToken("USD Coin", "USDC", 18);
        factory = new DepositFactory(OWNER, GUARDIAN, DELAY);
        escrow = new Escrow(address(factory), HERE, block.chainid);
        delivery = newDelivery();
        transferRoute = newTransferRoute(address(usdc));
        nativeRoute = newTransferRoute(NATIVE);
        escrowRoute = new SameAssetRoute(pairOf(address(usdc)));

        address[] memory more = moreRoutes();
        address[] memory routes = new address[](3 + more.length);
        routes[0] = address(transferRoute);
        routes[1] = address(nativeRoute);
        routes[2] = address(escrowRoute);
        for (uint256 i; i < more.length; ++i) {
            routes[3 + i] = more[i];
        }
        vm.prank(OWNER);
        factory.seal(routes, listOf(RELAYER), listOf(vm.addr(ATTESTOR_KEY)), 1, TREASURY);
        IDailyCaps.DailyCap[] memory caps = new IDailyCaps.DailyCap[](2);
        caps[0] = IDailyCaps.DailyCap(address(usdcThere), type(uint112).max);
        caps[1] = IDailyCaps.DailyCap(NATIVE, type(uint112).max);
        vm.prank(OWNER);
        delivery.seal(listOf(SETTLER), caps);
    }

    /// @dev Further members of the seal. Tokens, factory and escrow exist already.
    function moreRoutes() internal virtual returns (address[] memory) { }

    function newDelivery() internal returns (Delivery) {
        return new Delivery(OWNER, GUARDIAN, DELAY, address(factory), THERE, WINDOW);
    }

    function newTransferRoute(address token) internal returns (TransferRoute) {
        return new TransferRoute(
            ITransferRoute.Config(block.chainid, HERE, address(factory), token, FEES)
        );
    }

    function pairOf(address token) internal view returns (IEscrowRoute.Pair memory) {
        return IEscrowRoute.Pair({
            evmChainId: block.chainid,
            sourceChain: HERE,
            sourceToken: token,
            sourceDecimals: 6,
            escrow: address(escrow),
            destChain: THERE,
            destToken: word(address(usdcThere)),
            destDecimals: 18,
            delivery: word(address(delivery))
        });
    }

    /// @dev Lists a route after the seal, as the owner must.
    function listRoute(address route) internal {
        bytes32 role = factory.ROUTE();
        vm.prank(OWNER);
        factory.schedule(role, route);
        vm.warp(block.timestamp + DELAY);
        vm.prank(OWNER);
        factory.execute(role, route);
    }

    /// @dev Stays on this chain; the recipient gets `token`.
    function localCommitment(address token) internal pure returns (Commitment memory) {
        return Commitment({
            integrator: bytes32(uint256(0x1dea)),
            userId: bytes32(uint256(1)),
            destChain: HERE,
            destWallet: word(RECIPIENT),
            destToken: word(token),
            refundAuthority: word(REFUNDEE),
            maxFeeBps: 50,
            maxSlippageBps: 100,
            routes: 0,
            flags: 0
        });
    }

    /// @dev Goes to the other chain.
    function remoteCommitment() internal view returns (Commitment memory c) {
        c = localCommitment(address(usdcThere));
        c.destChain = THERE;
    }

    function transferJob(uint16 feeBps) internal view returns (IDepositFactory.Job memory) {
        return IDepositFactory.Job({
            c: localCommitment(address(usdc)),
            token: address(usdc),
            maxAmount: 0,
            route: address(transferRoute),
            data: feeOf(feeBps),
            proof: noProof()
        });
    }

    /// @dev The transfer route's data: a share and no flat amount.
    function feeOf(uint16 feeBps) internal pure returns (bytes memory) {
        return abi.encode(RouteFee({ bps: feeBps, flat: 0 }));
    }

    function nativeJob() internal view returns (IDepositFactory.Job memory) {
        return IDepositFactory.Job({
            c: localCommitment(NATIVE),
            token: NATIVE,
            maxAmount: 0,
            route: address(nativeRoute),
            data: feeOf(50),
            proof: noProof()
        });
    }

    function escrowJob() internal view returns (IDepositFactory.Job memory) {
        return IDepositFactory.Job({
            c: remoteCommitment(),
            token: address(usdc),
            maxAmount: 0,
            route: address(escrowRoute),
            data: "",
            proof: noProof()
        });
    }

    function settle(IDepositFactory.Job memory job) internal returns (uint256 amount) {
        vm.recordLogs();
        vm.prank(RELAYER);
        amount = factory.settle(job);
        noteLocks();
    }

    /// @dev Remembers the locks since `vm.recordLogs`, as the service does from their events. Calls no
    /// contract: measurements of gas follow it.
    function noteLocks() internal {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i; i < logs.length; ++i) {
            noteLock(logs[i]);
        }
    }

    function noteLock(Vm.Log memory log) internal returns (bool) {
        if (log.topics[0] != IEscrow.Locked.selector || log.emitter != address(escrow)) {
            return false;
        }
        IEscrow.Lock memory held;
        (held.token, held.amount, held.minOut, held.seq,, held.delivery) =
            abi.decode(log.data, (address, uint256, uint256, uint64, uint64, bytes32));
        held.commitment = log.topics[3];
        newestLock = log.topics[1];
        locks[newestLock] = held;
        return true;
    }

    function lockOf(bytes32 deliveryId) internal view returns (IEscrow.Lock memory) {
        return locks[deliveryId];
    }

    function lockedAtOf(bytes32 deliveryId) internal view returns (uint64 lockedAt) {
        (, lockedAt) = escrow.recordOf(deliveryId);
    }

    function isDelivered(bytes32 deliveryId) internal view returns (bool) {
        return delivery.isDelivered(deliveryId, HERE, word(address(escrow)), locks[deliveryId].seq);
    }

    function isDelivered(IDelivery.Order memory order) internal view returns (bool) {
        bytes32 id = delivery.deliveryIdOf(order);
        return delivery.isDelivered(id, order.srcChain, order.escrow, order.seq);
    }

    function nextSeq() internal view returns (uint64) {
        return escrow.nextSeq(word(address(delivery)));
    }

    function nativePair() internal view returns (IEscrowRoute.Pair memory pair) {
        pair = pairOf(NATIVE);
        pair.sourceDecimals = 18;
        pair.destToken = 0;
    }

    /// @dev Native coin to native coin of the other chain.
    function nativeEscrowJob(address route) internal view returns (IDepositFactory.Job memory) {
        Commitment memory c = remoteCommitment();
        c.destToken = 0;
        return IDepositFactory.Job({
            c: c, token: NATIVE, maxAmount: 0, route: route, data: "", proof: noProof()
        });
    }

    /// @dev Locks `amount` of the remote commitment and names the lock.
    function lockDeposit(uint256 amount) internal returns (bytes32 deliveryId) {
        IDepositFactory.Job memory job = escrowJob();
        usdc.mint(factory.predict(job.c), amount);
        settle(job);
        return newestLock;
    }

    /// @dev By the refund authority of the commitment.
    function announceTakeBack(Commitment memory c, address token) internal {
        vm.prank(address(uint160(uint256(c.refundAuthority))));
        escrow.announceTakeBack(c, token);
    }

    /// @dev A payout of a lock that this chain need not have.
    function orderOf(uint64 seq, uint256 amount) internal view returns (IDelivery.Order memory) {
        return IDelivery.Order({
            c: remoteCommitment(),
            srcChain: HERE,
            escrow: word(address(escrow)),
            srcToken: word(address(usdc)),
            lockedAmount: 1_000_000,
            minOut: 0,
            seq: seq,
            windowStart: uint64(block.timestamp),
            amount: amount
        });
    }

    /// @dev A payout of a lock of the remote commitment.
    function payoutOf(bytes32 id, uint256 amount) internal view returns (IDelivery.Order memory) {
        return payoutOf(id, remoteCommitment(), amount);
    }

    function payoutOf(bytes32 id, Commitment memory c, uint256 amount)
        internal
        view
        returns (IDelivery.Order memory)
    {
        IEscrow.Lock memory held = locks[id];
        return IDelivery.Order({
            c: c,
            srcChain: HERE,
            escrow: word(address(escrow)),
            srcToken: word(held.token),
            lockedAmount: held.amount,
            minOut: held.minOut,
            seq: held.seq,
            windowStart: lockedAtOf(id),
            amount: amount
        });
    }

    function signDeliver(uint256 key, IDelivery.Order memory order)
        internal
        view
        returns (bytes memory)
    {
        bytes32 structHash = keccak256(
            abi.encode(
                keccak256("Deliver(bytes32 deliveryId,uint256 amount,uint256 windowStart)"),
                delivery.deliveryIdOf(order),
                order.amount,
                uint256(order.windowStart)
            )
        );
        return signTyped(key, delivery.domainSeparator(), structHash);
    }

    function signClaim(uint256 key, bytes32 deliveryId, uint256 paidAmount, uint256 deadline)
        internal
        view
        returns (bytes memory)
    {
        bytes32 structHash = keccak256(
            abi.encode(
                keccak256("Claim(bytes32 deliveryId,uint256 paidAmount,uint256 deadline)"),
                deliveryId,
                paidAmount,
                deadline
            )
        );
        return signTyped(key, escrow.domainSeparator(), structHash);
    }

    function signReturn(uint256 key, bytes32 deliveryId, uint256 deadline)
        internal
        view
        returns (bytes memory)
    {
        bytes32 structHash = keccak256(
            abi.encode(
                keccak256("Return(bytes32 deliveryId,uint256 deadline)"), deliveryId, deadline
            )
        );
        return signTyped(key, escrow.domainSeparator(), structHash);
    }

    /// @dev Below minimum.
    function signRefund(
        uint256 key,
        address wallet,
        address token,
        uint256 maxAmount,
        uint256 deadline
    ) internal view returns (bytes memory) {
        return signRefund(key, wallet, token, maxAmount, 1, deadline);
    }

    function signRefund(
        uint256 key,
        address wallet,
        address token,
        uint256 maxAmount,
        uint8 reason,
        uint256 deadline
    ) internal view returns (bytes memory) {
        bytes32 structHash = keccak256(
            abi.encode(
                keccak256(
                    "Refund(address wallet,address token,uint256 maxAmount,uint8 reason,"
                    "uint256 deadline)"
                ),
                wallet,
                token,
                maxAmount,
                reason,
                deadline
            )
        );
        return signTyped(key, factory.domainSeparator(), structHash);
    }

    function signTyped(uint256 key, bytes32 domain, bytes32 structHash)
        internal
        pure
        returns (bytes memory)
    {
        (uint8 v, bytes32 r, bytes32 s) =
            vm.sign(key, keccak256(abi.encodePacked(hex"1901", domain, structHash)));
        return abi.encodePacked(r, s, v);
    }

    function domainOf(string memory name, address where) internal view returns (bytes32) {
        return keccak256(
            abi.encode(
                keccak256(
                    "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
                ),
                keccak256(bytes(name)),
                keccak256("1"),
                block.chainid,
                where
            )
        );
    }

    /// @dev The same signature with the upper `s`: valid for ecrecover, refused by us.
    function malleate(bytes memory signature) internal pure returns (bytes memory) {
        (bytes32 r, uint256 s, uint8 v) = split(signature);
        uint256 order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141;
        return abi.encodePacked(r, order - s, v == 27 ? uint8(28) : uint8(27));
    }

    function split(bytes memory signature) internal pure returns (bytes32 r, uint256 s, uint8 v) {
        (r, s) = abi.decode(signature, (bytes32, uint256));
        v = uint8(signature[64]);
    }

    function listOf(address who) internal pure returns (address[] memory list) {
        list = new address[](1);
        list[0] = who;
    }

    function capsOf(address token, uint112 perDay)
        internal
        pure
        returns (IDailyCaps.DailyCap[] memory caps)
    {
        caps = new IDailyCaps.DailyCap[](1);
        caps[0] = IDailyCaps.DailyCap(token, perDay);
    }

    /// @dev Of a commitment without a set of routes, and of a set of one.
    function noProof() internal pure returns (bytes32[] memory) {
        return new bytes32[](0);
    }

    function none() internal pure returns (address[] memory) {
        return new address[](0);
    }

    function word(address who) internal pure returns (bytes32) {
        return bytes32(uint256(uint160(who)));
    }
}

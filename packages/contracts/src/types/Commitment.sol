// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice The promise of a deposit address. Its hash is the CREATE2 salt of the wallet, so the
/// address itself fixes every field and the wallet stores nothing: callers pass the fields.
/// @param integrator The integrator's UUID, padded on the left.
/// @param userId The integrator's user, 20 bytes padded on the left.
/// @param destChain Bridge chain id of the destination (not the EVM chain id).
/// @param destWallet Recipient in the destination family's form; EVM addresses are padded on the
/// left.
/// @param destToken Token to be delivered; zero is the native coin of any family.
/// @param refundAuthority The account that may take the funds back on the source chain, padded on
/// the left.
/// @param maxFeeBps Maximum of all fees together, in basis points.
/// @param maxSlippageBps Maximum additional loss of a priced conversion, in basis points.
/// @param routes Root of the set of routes that may settle the address (`RouteSetLib`); zero leaves
/// the routes to the owner's list alone.
/// @param flags Bit 0 allows a settlement without the operator; every other bit is zero.
struct Commitment {
    bytes32 integrator;
    bytes32 userId;
    uint16 destChain;
    bytes32 destWallet;
    bytes32 destToken;
    bytes32 refundAuthority;
    uint16 maxFeeBps;
    uint16 maxSlippageBps;
    bytes32 routes;
    uint16 flags;
}

/// @title The hash of a commitment
/// @notice Never change it: a change here changes every deposit address.
library CommitmentLib {
    bytes32 internal constant DOMAIN = keccak256("sluice.deposit.v1");
    uint16 internal constant VERSION = 1;

    /// @dev 1 is the 51-byte proxy of `WalletProxy`. Another wallet form takes another number.
    uint16 internal constant WALLET_KIND = 1;

    /// @dev Bit of `flags` that allows a settlement without the operator.
    uint16 internal constant UNATTENDED = 1;

    function hash(Commitment calldata c) internal pure returns (bytes32) {
        return keccak256(
            abi.encode(
                DOMAIN,
                VERSION,
                WALLET_KIND,
                c.integrator,
                c.userId,
                c.destChain,
                c.destWallet,
                c.destToken,
                c.refundAuthority,
                c.maxFeeBps,
                c.maxSlippageBps,
                c.routes,
                c.flags
            )
        );
    }
}

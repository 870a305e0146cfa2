// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IEscrow } from "../interfaces/IEscrow.sol";
import { IEscrowRoute } from "../interfaces/IEscrowRoute.sol";
import { Commitment } from "../types/Commitment.sol";
import { Plan } from "../types/Plan.sol";

/// @title Base of the escrow routes: the pair and the lock
/// @notice The escrow holds the deposit until the attestors have seen the delivery or the deposit is
/// returned. A route adds the promised minimum.
abstract contract EscrowRoute is IEscrowRoute {
    uint256 internal constant BPS = 10_000;

    /// @dev Far above any real token, and small enough that the powers of ten cannot overflow.
    uint8 private constant DECIMALS_MAX = 36;

    uint256 private immutable EVM_CHAIN_ID;
    uint16 private immutable SOURCE_CHAIN;
    address private immutable SOURCE_TOKEN;
    uint8 internal immutable SOURCE_DECIMALS;
    address internal immutable ESCROW;
    uint16 private immutable DEST_CHAIN;
    bytes32 private immutable DEST_TOKEN;
    uint8 internal immutable DEST_DECIMALS;
    bytes32 private immutable DELIVERY;

    constructor(Pair memory p) {
        if (
            p.escrow == address(0) || p.delivery == 0 || p.sourceDecimals > DECIMALS_MAX
                || p.destDecimals > DECIMALS_MAX
        ) revert InvalidConfig();
        // An escrow of another chain id would create delivery ids that nobody can pay.
        if (
            p.destChain == p.sourceChain || IEscrow(p.escrow).bridgeId() != p.sourceChain
                || IEscrow(p.escrow).evmChainId() != p.evmChainId
        ) revert InvalidConfig();
        EVM_CHAIN_ID = p.evmChainId;
        SOURCE_CHAIN = p.sourceChain;
        SOURCE_TOKEN = p.sourceToken;
        SOURCE_DECIMALS = p.sourceDecimals;
        ESCROW = p.escrow;
        DEST_CHAIN = p.destChain;
        DEST_TOKEN = p.destToken;
        DEST_DECIMALS = p.destDecimals;
        DELIVERY = p.delivery;
    }

    /// @inheritdoc IEscrowRoute
    function pair() external view returns (Pair memory) {
        return Pair({
            evmChainId: EVM_CHAIN_ID,
            sourceChain: SOURCE_CHAIN,
            sourceToken: SOURCE_TOKEN,
            sourceDecimals: SOURCE_DECIMALS,
            escrow: ESCROW,
            destChain: DEST_CHAIN,
            destToken: DEST_TOKEN,
            destDecimals: DEST_DECIMALS,
            delivery: DELIVERY
        });
    }

    /// @dev Reverts unless chain, token and commitment are the pair's.
    function _checkPair(Commitment calldata c, address token) internal view {
        if (block.chainid != EVM_CHAIN_ID) revert WrongEvmChain(block.chainid, EVM_CHAIN_ID);
        if (c.destChain != DEST_CHAIN) revert WrongDestChain(c.destChain, DEST_CHAIN);
        if (token != SOURCE_TOKEN) revert WrongToken(token, SOURCE_TOKEN);
        if (c.destToken != DEST_TOKEN) revert WrongDestToken(c.destToken, DEST_TOKEN);
    }

    /// @dev Returns the plan that locks the whole deposit.
    function _lock(Commitment calldata c, uint256 amount, uint256 promised)
        internal
        view
        returns (Plan memory)
    {
        if (promised == 0) revert NothingPromised(amount, c.maxFeeBps);
        return Plan({
            fee: 0,
            feeRecipient: address(0),
            to: ESCROW,
            least: 0,
            promised: promised,
            delivery: DELIVERY
        });
    }
}

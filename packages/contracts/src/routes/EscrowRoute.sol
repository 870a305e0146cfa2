// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { SafeERC20 } from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import { IEscrow } from "../interfaces/IEscrow.sol";
import { IEscrowRoute } from "../interfaces/IEscrowRoute.sol";
import { IRoute } from "../interfaces/IRoute.sol";
import { Commitment } from "../types/Commitment.sol";

/// @title The escrow route
/// @notice Trust: none in the relayer, who has nothing to choose. The escrow holds the deposit
/// until the delivery is proved to an attestor or the deposit is taken back.
contract EscrowRoute is IEscrowRoute {
    using SafeERC20 for IERC20;

    uint256 private constant BPS = 10_000;

    /// @dev Far above any real token, and small enough that the powers of ten cannot overflow.
    uint8 private constant DECIMALS_MAX = 36;

    uint256 private immutable EVM_CHAIN_ID;
    uint16 private immutable SOURCE_CHAIN;
    address private immutable SOURCE_TOKEN;
    uint8 private immutable SOURCE_DECIMALS;
    address private immutable ESCROW;
    uint16 private immutable DEST_CHAIN;
    bytes32 private immutable DEST_TOKEN;
    uint8 private immutable DEST_DECIMALS;
    bytes32 private immutable DELIVERY;

    constructor(Pair memory p) {
        if (
            p.sourceToken == address(0) || p.escrow == address(0) || p.delivery == 0
                || p.sourceDecimals > DECIMALS_MAX || p.destDecimals > DECIMALS_MAX
        ) revert InvalidConfig();
        // An escrow that counts under another chain would make delivery ids nobody can pay.
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

    /// @inheritdoc IRoute
    function deliver(Commitment calldata c, address token, uint256 amount, bytes calldata data)
        external
    {
        if (block.chainid != EVM_CHAIN_ID) revert WrongEvmChain(block.chainid, EVM_CHAIN_ID);
        if (c.destChain != DEST_CHAIN) revert WrongDestChain(c.destChain, DEST_CHAIN);
        if (token != SOURCE_TOKEN) revert WrongToken(token, SOURCE_TOKEN);
        if (c.destToken != DEST_TOKEN) revert WrongDestToken(c.destToken, DEST_TOKEN);
        if (data.length != 0) revert InvalidData(data.length);
        uint256 promised = _minOut(amount, c.maxFeeBps);
        if (promised == 0) revert NothingPromised(amount, c.maxFeeBps);

        IERC20(token).forceApprove(ESCROW, amount);
        IEscrow(ESCROW).lock(c, token, amount, promised, DELIVERY);
        IERC20(token).forceApprove(ESCROW, 0);
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

    /// @inheritdoc IEscrowRoute
    function minOut(uint256 amount, uint16 maxFeeBps) external view returns (uint256) {
        return _minOut(amount, maxFeeBps);
    }

    /// @dev One division at the end, so that it is rounded once.
    function _minOut(uint256 amount, uint16 maxFeeBps) private view returns (uint256) {
        if (maxFeeBps >= BPS) return 0;
        return amount * (BPS - maxFeeBps) * 10 ** uint256(DEST_DECIMALS)
            / (BPS * 10 ** uint256(SOURCE_DECIMALS));
    }
}

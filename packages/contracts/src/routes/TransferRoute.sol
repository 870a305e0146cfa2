// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { SafeERC20 } from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import { Address } from "@openzeppelin/contracts/utils/Address.sol";
import { IRoute } from "../interfaces/IRoute.sol";
import { ITransferRoute } from "../interfaces/ITransferRoute.sol";
import { Address32 } from "../types/Address32.sol";
import { Commitment } from "../types/Commitment.sol";

/// @title The transfer route
/// @notice Trust: the relayer chooses the fee, up to the committed cap and to a recipient that is
/// part of this code. Everything else follows from the commitment.
/// What the recipient's balance gained is what counts: a token that keeps more of a transfer than the
/// committed fee cap leaves to it is not settled at all.
contract TransferRoute is ITransferRoute {
    using SafeERC20 for IERC20;
    using Address for address payable;

    uint256 private constant BPS = 10_000;

    uint256 private immutable EVM_CHAIN_ID;
    uint16 private immutable BRIDGE_ID;
    address private immutable TOKEN;
    address private immutable FEE_RECIPIENT;

    constructor(Config memory config_) {
        if (config_.feeRecipient == address(0)) revert InvalidConfig();
        EVM_CHAIN_ID = config_.evmChainId;
        BRIDGE_ID = config_.bridgeId;
        TOKEN = config_.token;
        FEE_RECIPIENT = config_.feeRecipient;
    }

    /// @inheritdoc IRoute
    function deliver(Commitment calldata c, address token, uint256 amount, bytes calldata data)
        external
    {
        if (block.chainid != EVM_CHAIN_ID) revert WrongEvmChain(block.chainid, EVM_CHAIN_ID);
        if (c.destChain != BRIDGE_ID) revert WrongDestChain(c.destChain, BRIDGE_ID);
        if (token != TOKEN) revert WrongToken(token, TOKEN);
        bytes32 destToken = Address32.toBytes32(TOKEN);
        if (c.destToken != destToken) revert WrongDestToken(c.destToken, destToken);
        address to = Address32.toNonZeroAddress(c.destWallet);

        uint256 fee = amount * _feeBps(c, data) / BPS;
        if (fee != 0) _send(token, FEE_RECIPIENT, fee);
        uint256 received = _pay(token, to, amount - fee);
        uint256 least = c.maxFeeBps < BPS ? amount * (BPS - c.maxFeeBps) / BPS : 0;
        if (received < least) revert ReceivedLess(received, least);
        emit Transferred(address(this), to, token, received, fee);
    }

    /// @inheritdoc ITransferRoute
    function config() external view returns (Config memory) {
        return Config({
            evmChainId: EVM_CHAIN_ID, bridgeId: BRIDGE_ID, token: TOKEN, feeRecipient: FEE_RECIPIENT
        });
    }

    /// @dev Returns what arrived.
    function _pay(address token, address to, uint256 amount) private returns (uint256) {
        if (token == address(0)) {
            payable(to).sendValue(amount);
            return amount;
        }
        uint256 before = IERC20(token).balanceOf(to);
        IERC20(token).safeTransfer(to, amount);
        return IERC20(token).balanceOf(to) - before;
    }

    function _send(address token, address to, uint256 amount) private {
        if (token == address(0)) payable(to).sendValue(amount);
        else IERC20(token).safeTransfer(to, amount);
    }

    /// @dev A commitment may name a cap above 100%; no fee exceeds the amount all the same.
    function _feeBps(Commitment calldata c, bytes calldata data)
        private
        pure
        returns (uint256 bps)
    {
        if (data.length != 32) revert InvalidData(data.length);
        bps = abi.decode(data, (uint256));
        if (bps > c.maxFeeBps || bps > BPS) revert FeeAboveCap(bps, c.maxFeeBps);
    }
}

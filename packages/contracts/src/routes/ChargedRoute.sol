// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { SafeERC20 } from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import { Address } from "@openzeppelin/contracts/utils/Address.sol";
import { Math } from "@openzeppelin/contracts/utils/math/Math.sol";
import { IChargedRoute } from "../interfaces/IChargedRoute.sol";
import { Commitment } from "../types/Commitment.sol";
import { RouteFee, RouteFeeLib } from "../types/RouteFee.sol";

/// @title Base of the routes that take a fee out of the deposit
abstract contract ChargedRoute is IChargedRoute {
    using SafeERC20 for IERC20;
    using Address for address payable;
    using RouteFeeLib for RouteFee;

    uint256 internal immutable EVM_CHAIN_ID;
    address internal immutable FEE_RECIPIENT;

    constructor(uint256 evmChainId, address feeRecipient) {
        if (feeRecipient == address(0)) revert InvalidConfig();
        EVM_CHAIN_ID = evmChainId;
        FEE_RECIPIENT = feeRecipient;
    }

    /// @dev Reverts unless chain, token and commitment are those of the route.
    function _check(
        Commitment calldata c,
        address token,
        address ownToken,
        uint16 destChain,
        bytes32 destToken
    ) internal view {
        if (block.chainid != EVM_CHAIN_ID) {
            revert WrongEvmChain(block.chainid, EVM_CHAIN_ID);
        }
        if (c.destChain != destChain) revert WrongDestChain(c.destChain, destChain);
        if (token != ownToken) revert WrongToken(token, ownToken);
        if (c.destToken != destToken) revert WrongDestToken(c.destToken, destToken);
    }

    /// @dev Runs in the wallet. `bridgeFee` is the most that a bridge may keep of the same token later.
    function _charge(
        Commitment calldata c,
        address token,
        uint256 amount,
        RouteFee memory fee,
        uint256 bridgeFee
    ) internal returns (uint256 charged) {
        charged = fee.amountOf(amount);
        uint256 cost = Math.saturatingAdd(charged, bridgeFee);
        uint256 cap = RouteFeeLib.cap(amount, c.maxFeeBps);
        if (cost > cap) revert FeeAboveCap(cost, cap);
        if (charged != 0) _send(token, FEE_RECIPIENT, charged);
    }

    function _send(address token, address to, uint256 amount) internal {
        if (token == address(0)) payable(to).sendValue(amount);
        else IERC20(token).safeTransfer(to, amount);
    }

    function _balanceOf(address token, address account) internal view returns (uint256) {
        return token == address(0) ? account.balance : IERC20(token).balanceOf(account);
    }
}

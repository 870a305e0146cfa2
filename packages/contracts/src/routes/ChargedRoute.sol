// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { Math } from "@openzeppelin/contracts/utils/math/Math.sol";
import { IChargedRoute } from "../interfaces/IChargedRoute.sol";
import { Commitment } from "../types/Commitment.sol";
import { Plan } from "../types/Plan.sol";
import { RouteFee, RouteFeeLib } from "../types/RouteFee.sol";

/// @title Base of the routes that take a fee out of the deposit
abstract contract ChargedRoute is IChargedRoute {
    using RouteFeeLib for RouteFee;

    uint256 internal immutable EVM_CHAIN_ID;
    address internal immutable DEPOSIT_FACTORY;
    address internal immutable FEE_RECIPIENT;

    modifier onlyFactory() {
        if (msg.sender != DEPOSIT_FACTORY) revert NotFactory(msg.sender);
        _;
    }

    constructor(uint256 evmChainId, address factory_, address feeRecipient) {
        if (factory_ == address(0) || feeRecipient == address(0)) revert InvalidConfig();
        EVM_CHAIN_ID = evmChainId;
        DEPOSIT_FACTORY = factory_;
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

    /// @dev Returns the fee. `bridgeFee` is the most that a bridge may keep of the same token later.
    function _charge(Commitment calldata c, uint256 amount, RouteFee memory fee, uint256 bridgeFee)
        internal
        pure
        returns (uint256 charged)
    {
        charged = fee.amountOf(amount);
        uint256 cost = Math.saturatingAdd(charged, bridgeFee);
        uint256 cap = RouteFeeLib.cap(amount, c.maxFeeBps);
        if (cost > cap) revert FeeAboveCap(cost, cap);
    }

    /// @dev Returns the plan that pays the fee and the rest, of which `least` must arrive.
    function _payment(address to, uint256 fee, uint256 least) internal view returns (Plan memory) {
        return Plan({
            fee: fee, feeRecipient: FEE_RECIPIENT, to: to, least: least, promised: 0, delivery: 0
        });
    }

    function _balanceOf(address token, address account) internal view returns (uint256) {
        return token == address(0) ? account.balance : IERC20(token).balanceOf(account);
    }
}

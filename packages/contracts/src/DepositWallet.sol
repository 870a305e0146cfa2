// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { SafeERC20 } from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import { Address } from "@openzeppelin/contracts/utils/Address.sol";
import { Math } from "@openzeppelin/contracts/utils/math/Math.sol";
import { IDepositWallet } from "./interfaces/IDepositWallet.sol";
import { IEscrow } from "./interfaces/IEscrow.sol";
import { Allowance } from "./types/Allowance.sol";
import { BoundedCall } from "./types/BoundedCall.sol";
import { Commitment } from "./types/Commitment.sol";
import { Plan } from "./types/Plan.sol";

/// @title The code behind every deposit address
/// @notice Stores nothing and decides nothing: only the factory may call it, with the commitment of
/// its address. It runs no foreign code. It can do three things with a token: transfer it, lock it in
/// an escrow, under an allowance that ends with the call, and refund it.
///
/// Never do with a deposit address:
/// - use it on a chain where the factory is not at its usual address, or whose CREATE2 differs:
///   the funds may be lost permanently;
/// - make it an owner, a signer, a minter or a beneficiary that must claim: it calls nothing but
///   a token and an escrow;
/// - send NFTs or other tokens without a `transfer(address,uint256)` to it: only that call moves
///   tokens out;
/// - grant it allowances, or expect it to spend any;
/// - lose its commitment: without the ten fields nobody can act on it.
///
/// Tokens that misbehave here: fee-on-transfer tokens (above the committed cap they cannot be
/// settled); rebasing tokens (some may remain, and a settlement that leaves any reverts); tokens
/// that block addresses (a blocked wallet or recipient can only wait); and tokens that call other
/// contracts on transfer (the factory's guard makes reentrant calls fail). All of them can be
/// refunded as far as their own `transfer` allows.
///
/// It has no `receive`: the proxy accepts native coin by itself, and the bare implementation
/// refuses it, since it could not give it back.
contract DepositWallet is IDepositWallet {
    using SafeERC20 for IERC20;
    using Address for address payable;

    address private immutable FACTORY = msg.sender;

    modifier onlyFactory() {
        if (msg.sender != FACTORY) revert NotFactory(msg.sender);
        _;
    }

    /// @inheritdoc IDepositWallet
    function execute(Commitment calldata c, address token, uint256 amount, Plan calldata plan)
        external
        onlyFactory
        returns (uint256 received)
    {
        uint256 rest = amount - plan.fee;
        if (plan.fee != 0) _pay(token, plan.feeRecipient, plan.fee);
        if (plan.promised != 0) {
            _lock(c, token, rest, plan);
            return rest;
        }
        // Native coin arrives or reverts; its recipient may pass it on.
        if (token == address(0)) {
            BoundedCall.pay(plan.to, rest);
            return rest;
        }
        uint256 balanceBefore = IERC20(token).balanceOf(plan.to);
        IERC20(token).safeTransfer(plan.to, rest);
        uint256 balance = IERC20(token).balanceOf(plan.to);
        received = balance > balanceBefore ? balance - balanceBefore : 0;
        if (received < plan.least) revert ReceivedLess(received, plan.least);
    }

    /// @inheritdoc IDepositWallet
    function refund(address token, uint256 maxAmount, address to, bool bounded)
        external
        onlyFactory
        returns (uint256 amount)
    {
        amount = Math.min(_balance(token), maxAmount);
        if (amount == 0) return 0;
        if (token == address(0) && !bounded) payable(to).sendValue(amount);
        else _pay(token, to, amount);
    }

    function _pay(address token, address to, uint256 amount) private {
        if (token == address(0)) BoundedCall.pay(to, amount);
        else IERC20(token).safeTransfer(to, amount);
    }

    function _lock(Commitment calldata c, address token, uint256 amount, Plan calldata plan)
        private
    {
        if (token == address(0)) {
            IEscrow(plan.to).lock{ value: amount }(c, token, amount, plan.promised, plan.delivery);
            return;
        }
        Allowance.grant(token, plan.to, amount);
        IEscrow(plan.to).lock(c, token, amount, plan.promised, plan.delivery);
        Allowance.end(token, plan.to);
    }

    function _balance(address token) private view returns (uint256) {
        return token == address(0) ? address(this).balance : IERC20(token).balanceOf(address(this));
    }
}

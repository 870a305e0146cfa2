// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { SafeERC20 } from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import { Address } from "@openzeppelin/contracts/utils/Address.sol";
import { IDepositWallet } from "./interfaces/IDepositWallet.sol";
import { IRoute } from "./interfaces/IRoute.sol";
import { Commitment } from "./types/Commitment.sol";

/// @title The code behind every deposit address
/// @notice Stores nothing, decides nothing: the factory alone may call it, with the commitment that
/// makes up its address.
///
/// Never do with a deposit address:
/// - use it on a chain where the factory does not stand at its usual address, or whose CREATE2
///   differs: the funds may be out of reach for ever;
/// - make it an owner, a signer, a minter or the beneficiary of something that must be claimed: it
///   can call nobody except through a listed route;
/// - send NFTs or other tokens without a `transfer(address,uint256)` to it: only that call gets
///   anything out;
/// - grant it allowances, or expect it to spend any;
/// - lose its commitment: without the eight fields nobody can act on it.
///
/// Tokens that misbehave here: those that take a fee on transfer (above the committed cap they cannot
/// be settled), that rebase (a rest may stay, and a settlement that leaves a rest reverts), that block addresses
/// (a blocked wallet or recipient cannot be settled, only wait), and that run foreign code on
/// transfer (they are shut out by the factory's guard, and fail). Any of them can be refunded as
/// far as its own `transfer` allows.
///
/// It has no `receive`: the proxy takes native coin by itself, and the bare implementation, which
/// could give nothing back, refuses it.
contract DepositWallet is IDepositWallet {
    using SafeERC20 for IERC20;
    using Address for address;
    using Address for address payable;

    address private immutable FACTORY = msg.sender;

    modifier onlyFactory() {
        if (msg.sender != FACTORY) revert NotFactory(msg.sender);
        _;
    }

    /// @inheritdoc IDepositWallet
    function run(address route, Commitment calldata c, address token, bytes calldata data)
        external
        onlyFactory
        returns (uint256 amount)
    {
        amount = _balance(token);
        if (amount == 0) return 0;
        route.functionDelegateCall(abi.encodeCall(IRoute.deliver, (c, token, amount, data)));
    }

    /// @inheritdoc IDepositWallet
    function refund(address token, address to) external onlyFactory returns (uint256 amount) {
        amount = _balance(token);
        if (amount == 0) return 0;
        if (token == address(0)) payable(to).sendValue(amount);
        else IERC20(token).safeTransfer(to, amount);
    }

    function _balance(address token) private view returns (uint256) {
        return token == address(0) ? address(this).balance : IERC20(token).balanceOf(address(this));
    }
}

// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { ERC20 } from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title A token for sandboxes and tests
/// @notice Without value; whoever deployed it mints. Never list it on a real chain.
contract TestToken is ERC20 {
    /// @notice Somebody other than the deployer tried to mint.
    error NotMinter(address caller);

    address private immutable MINTER = msg.sender;
    uint8 private immutable DECIMALS;

    constructor(string memory name_, string memory symbol_, uint8 decimals_) ERC20(name_, symbol_) {
        DECIMALS = decimals_;
    }

    function mint(address to, uint256 amount) external {
        if (msg.sender != MINTER) revert NotMinter(msg.sender);
        _mint(to, amount);
    }

    function decimals() public view override returns (uint8) {
        return DECIMALS;
    }
}

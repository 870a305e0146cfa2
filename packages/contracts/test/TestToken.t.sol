// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { TestToken } from "../sandbox/TestToken.sol";
import { Test } from "./support/Vm.sol";

/// @notice The sandbox's token.
contract TestTokenTest is Test {
    TestToken private _token;

    function setUp() public {
        _token = new TestToken("USD Coin", "USDC", 6);
    }

    function test_mint_DeployerMints() public {
        _token.mint(address(1), 5);
        assertEq(_token.balanceOf(address(1)), 5, "balance");
        assertEq(_token.decimals(), 6, "decimals");
    }

    function test_mint_RevertsWhenCallerIsNotTheDeployer() public {
        vm.expectRevert(abi.encodeWithSelector(TestToken.NotMinter.selector, address(1)));
        vm.prank(address(1));
        _token.mint(address(1), 5);
    }

    function test_mint_ANamedMinterMintsAndOnlyTheDeployerNames() public {
        vm.expectRevert(abi.encodeWithSelector(TestToken.NotMinter.selector, address(1)));
        vm.prank(address(1));
        _token.addMinter(address(1));
        _token.addMinter(address(1));
        vm.prank(address(1));
        _token.mint(address(2), 5);
        vm.prank(address(2));
        _token.burn(2);
        assertEq(_token.balanceOf(address(2)), 3, "balance");
        assertEq(_token.totalSupply(), 3, "supply");
    }
}

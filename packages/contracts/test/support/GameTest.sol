// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Fixture } from "./Fixture.sol";

/// @notice Laws that hold after any actions of a game, in any order.
abstract contract GameTest is Fixture {
    /// @dev As the fuzzer reads it.
    struct Selectors {
        address addr;
        bytes4[] selectors;
    }

    /// @dev The game that is played; its external functions are its actions.
    function played() internal view virtual returns (address);

    function targetContracts() external view returns (address[] memory) {
        return listOf(played());
    }

    /// @dev Always the same account. The fuzzer would otherwise play as any address that it has seen, also as a
    /// contract that calls the game back.
    function targetSenders() external pure returns (address[] memory) {
        return listOf(address(0x91a7e5));
    }

    /// @dev A call of them would be one action less.
    function excludeSelectors() external view returns (Selectors[] memory excluded) {
        excluded = new Selectors[](1);
        excluded[0] = Selectors(played(), noActions());
    }

    /// @dev External functions of the game that are no actions.
    function noActions() internal pure virtual returns (bytes4[] memory selectors) {
        selectors = new bytes4[](1);
        selectors[0] = Fixture.setUp.selector;
    }
}

// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Commitment, CommitmentLib } from "../../src/types/Commitment.sol";
import { DeliveryIdLib, LockFacts } from "../../src/types/DeliveryId.sol";

/// @title The formats, whose hashed words the prover reads
contract FormatLaws {
    function commitment(Commitment calldata c) external pure returns (bytes32) {
        return CommitmentLib.hash(c);
    }

    function delivery(LockFacts memory facts) external pure returns (bytes32) {
        return DeliveryIdLib.compute(facts);
    }
}

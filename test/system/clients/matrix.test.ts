/** The client matrix: every supported JavaScript library in all supported versions. */
import { MATRIX, startMatrixClient } from '../../clients/matrix-client.ts';
import { matrixSuite } from './run-matrix.ts';

matrixSuite('the client matrix', MATRIX, startMatrixClient);

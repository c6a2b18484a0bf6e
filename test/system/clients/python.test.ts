/** The client matrix in Python, where Python is present. */

import { installPython } from '../../clients/python/install.ts';
import { PYTHON_MATRIX, startPythonClient } from '../../clients/python-client.ts';
import { matrixSuite } from './run-matrix.ts';

const { program } = await installPython();
matrixSuite(
  'the client matrix in Python',
  PYTHON_MATRIX,
  program === undefined ? undefined : () => startPythonClient(program),
);

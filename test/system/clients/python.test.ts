/** The client matrix in Python, if Python is installed. */

import { type Installed, installPython } from '../../clients/python/install.ts';
import { PYTHON_MATRIX, startPythonClient } from '../../clients/python-client.ts';
import { matrixSuite } from './run-matrix.ts';

for (const what of Object.keys(PYTHON_MATRIX) as Installed[]) {
  const { program } = await installPython(what);
  const start = program === undefined ? undefined : () => startPythonClient(program);
  matrixSuite(`the client matrix in Python, ${what}`, PYTHON_MATRIX[what], start);
}

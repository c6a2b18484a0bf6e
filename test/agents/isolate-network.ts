/** Runs a program in a network namespace with only a loopback interface, and forwards one port to a socket file. */
import { dlopen, FFIType, ptr } from 'bun:ffi';
import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';

const AF_INET = 2;
const SOCK_DGRAM = 2;
const SIOCGIFFLAGS = 0x8913n;
const SIOCSIFFLAGS = 0x8914n;
const IFF_UP = 1;
const NAME_BYTES = 16;

/** In a new namespace the loopback interface is down. */
function raiseLoopback(): void {
  const { symbols } = dlopen('libc.so.6', {
    socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
    ioctl: { args: [FFIType.i32, FFIType.u64, FFIType.ptr], returns: FFIType.i32 },
  });
  const socket = symbols.socket(AF_INET, SOCK_DGRAM, 0);
  const request = Buffer.alloc(40);
  request.write('lo');
  if (symbols.ioctl(socket, SIOCGIFFLAGS, ptr(request)) !== 0) throw new Error('the loopback does not tell its flags');
  request.writeInt16LE(request.readInt16LE(NAME_BYTES) | IFF_UP, NAME_BYTES);
  if (symbols.ioctl(socket, SIOCSIFFLAGS, ptr(request)) !== 0) throw new Error('the loopback does not come up');
}

const [, , socketFile = '', port = '', program = '', ...args] = process.argv;
raiseLoopback();
createServer((inside) => {
  const outside = connect(socketFile);
  inside.pipe(outside).pipe(inside);
  for (const [one, other] of [
    [inside, outside],
    [outside, inside],
  ] as const) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
}).listen(Number(port), '127.0.0.1', () => {
  const child = spawn(program, args, { stdio: 'inherit' });
  child.on('exit', (code) => process.exit(code ?? 1));
});

/** The part of the benchmarks' page that says how they are measured. */
export const METHOD = `## How it is measured

- **nginx** is a plain proxy: one worker, connections kept to the upstream, nothing buffered, nothing logged. It is the yardstick:
  it checks no key, reads no body, keeps no account.
- **Modelport** is \`modelport serve\` with everything on: it checks a key, holds money, settles it, and records the call in SQLite and in its log.
- **Portkey** (npm), **LiteLLM** and **LM-Proxy** (PyPI) and **Bifrost** (Go modules) are gateways of others, with the settings that their documentation
  recommends for production. They do less for a call than Modelport does here; what each does is above. One that could not be installed or did not
  withstand the load is named above.
- The upstream and the load generator are processes of their own on raw sockets. Requests are about a kilobyte, replies and chunks
  look like OpenAI's. Streams go from and to the same format, so their chunks pass verbatim.
- **Windows.** nginx, raw sockets and every variant of Modelport run at the same time. First each answers 60,000 requests, or as many as it can in 60 s,
  and passes on 100,000 chunks, so that its compilers rest. Then they take turns in windows of 500 ms while nothing is asked of the rest; each round
  begins with another one, and every second round is in the reverse order. One load generator keeps its connections between the windows. Before each
  window comes the same load for 250 ms (1 s of the fixed rate), which is not counted: a gateway that rested for seconds has given memory back and
  takes it again, which a steady load does not make it do. A figure is the median of its windows. Its ratio to nginx is the median of the ratios in
  each round, whose windows lie within seconds of each other: where the speed of the machine changes during the run, that is steadier than the ratio
  of two medians.
- *Requests a second* and *CPU per request*: 32 connections, each asking again as soon as it has its answer. The processor time is that of all threads of
  the gateway's processes (not of Postgres and Redis) from the beginning of a window to its end, as the scheduler counts it
  (\`/proc/PID/task/*/schedstat\`).
  *The event loop* is the main thread; compilers, the collector and SQLite's writer have threads of their own. *With what runs between windows* is
  all that was spent from the first window until 2 s after the last, without what the gateway spends while nothing is asked (measured for 5 s
  before), divided by all these requests, also those before a window.
- *CPU per streamed chunk*: all threads; 40 streams of a chunk every 5 ms, which are opened before the window and end after it.
- *p99 at 200 requests a second*, *added latency*: evenly spaced requests, in windows of 2.5 s in turn, a third as many but at least five; *first token*: 100 short
  streams a second, one gateway after the other. What is added is more than the upstream takes when called directly.
- *Memory*, *late chunks*: one gateway after the other, after all the windows above, so garbage lies about as it does in service. *Memory at 500
  streams* is the highest seen while 500 streams of a chunk every 50 ms are open. A chunk is *late* when it arrives more than 50 ms after it was
  sent. Memory is that of all processes of the gateway. What takes the memory: decision 0034.
- *Two processes beside one*: gateway, load and upstream share the cores. Requests a second of two processes are scaled to two whole cores: \`cores used by load and upstream\` are subtracted.
- *Cold start*: from the start of the process, on an empty SQLite database, to its first answer to a chat request; the median of five starts before anything else runs.
  On Postgres the first start finds an empty database.
- Gateways of others run alone, one after the other: they are warmed up for 10 s and by 40,000 chunks, started once, and measured in one window
  of each kind, that of chunks from the opening of the streams to their end. Their ratios are to nginx's medians.
`;

import { expect, test } from 'bun:test';
import { wordFaults } from './check-words.ts';

const WORDS = [
  { word: 'pictures?', instead: 'image' },
  { word: 'on sale', instead: 'available' },
];

test('retired words in the text of documents are faults; examples, names and URLs are exempt', () => {
  const text = 'Two Pictures.\n`picture` [a](picture.md) picture-a\n```\npicture\n```\nModels on sale.\n';
  expect(wordFaults([{ path: 'a.md', text }], [], WORDS)).toEqual([
    'a.md:1: says "Pictures": write image',
    'a.md:6: says "on sale": write available',
  ]);
});

test('retired words in sentences of the code are faults; other names, comments and database statements are exempt', () => {
  const text = [
    '// a picture',
    "const picture = 'picture';",
    "throw new Error('The picture is too large.');",
    'const sql = `SELECT picture FROM x`;',
    `const said = \`\${picture} holds no picture at all\`;`,
  ].join('\n');
  expect(wordFaults([], [{ path: 'src/a.ts', text }], WORDS)).toEqual([
    'src/a.ts:3: says "picture": write image',
    'src/a.ts:5: says "picture": write image',
  ]);
});

test('retired words in names of the code are faults, as complete words of the name; stored names are exempt', () => {
  const words = [
    { word: 'doors?', names: true, instead: 'API format' },
    { word: 'proofs?', names: 'only' as const, instead: 'signature' },
    { word: 'pictures?', instead: 'image' },
  ];
  const text = 'const picture = 1;\nlet openDoor = outdoors;\nclass A { #proofRows = "a proof"; VIDEO_DOORS = 1 }\n';
  expect(wordFaults([], [{ path: 'src/a.ts', text }], words)).toEqual([
    'src/a.ts:2: says "Door": write API format',
    'src/a.ts:3: says "proof": write signature',
    'src/a.ts:3: says "DOORS": write API format',
  ]);
  expect(wordFaults([], [{ path: 'src/tasks/task.ts', text: 'const { door } = row;' }], words)).toEqual([]);
});

test('words that are retired in names of src alone may be names of tests, and words of documents', () => {
  const words = [{ word: 'said', names: 'src' as const, instead: 'given' }];
  const text = 'const said = 1;';
  const files = ['src/a.ts', 'src/a.test.ts', 'test/b.ts', 'web/src/c.tsx'].map((path) => ({ path, text }));
  expect(wordFaults([{ path: 'a.md', text: 'It is said.' }], files, words)).toEqual([
    'src/a.ts:1: says "said": write given',
    'web/src/c.tsx:1: says "said": write given',
  ]);
});

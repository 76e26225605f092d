/**
 * Detects passwords that attackers try first: a common word with a common suffix, a walk over the keyboard, or a
 * repetition of one character or a short block. Passwords shorter than 10 characters are rejected earlier, by the
 * schema.
 */
const COMMON_WORD_LIST =
  'password passwort passw0rd motdepasse contrasena qwerty qwertz azerty welcome willkommen letmein iloveyou admin ' +
  'administrator root superuser user guest default changeme secret master login access hello monkey dragon football ' +
  'baseball basketball soccer hockey sunshine princess superman batman spiderman starwars pokemon shadow michael jordan ' +
  'michelle jennifer jessica charlie daniel thomas robert george ashley nicole samsung google facebook apple internet ' +
  'computer server database company test testing tester demo example temp temporary trustno whatever freedom mustang ' +
  'corvette ferrari harley ranger hunter killer cheese banana chocolate cookie flower butterfly summer winter autumn ' +
  'spring january february march april june july august september october november december monday friday sunday ' +
  'liverpool arsenal chelsea barcelona juventus lovely loveme babygirl angel blessed jesus christ forever family friends ' +
  'zaq xsw qazwsx asdf asdfgh zxcvbn qwer abc abcd abcdef abc123 a1b2c3 q1w2e3r4 1q2w3e4r 1qaz2wsx gateway agent openai';
const COMMON_WORDS = new Set(COMMON_WORD_LIST.split(' '));
const KEYBOARD_ROWS = [
  '`1234567890-=',
  '01234567890123456789',
  'qwertyuiop[]',
  'qwertzuiopü',
  'azertyuiop',
  "asdfghjkl;'",
  'zxcvbnm,./',
  'abcdefghijklmnopqrstuvwxyz',
  '1q2w3e4r5t6y7u8i9o0p',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik,9ol.',
  'qazwsxedcrfvtgbyhnujmikolp',
];
const KEYBOARD_WALKS = KEYBOARD_ROWS.flatMap((row) => [row, [...row].reverse().join('')]);
const LOOKALIKES: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
};
/** The longest block whose repetition makes a password weak. */
const BLOCK_CHARS_MAX = 6;

export function isWeakPassword(password: string): boolean {
  const text = password.normalize('NFKC').toLowerCase().replace(/\s/g, '');
  return isRepeatedBlock(text) || isKeyboardWalk(text) || isCommonWordWithSuffix(text);
}

/** `aaaaaaaaaa`, `abcabcabcabc`, `1212121212`. */
function isRepeatedBlock(text: string): boolean {
  for (let size = 1; size <= BLOCK_CHARS_MAX && size * 2 <= text.length; size++) {
    const block = text.slice(0, size);
    if (block.repeat(Math.ceil(text.length / size)).slice(0, text.length) === text) return true;
  }
  return false;
}

/** `1234567890`, `qwertyuiop`, `1234567890qwertyuiop`: at most two walks in sequence. */
function isKeyboardWalk(text: string): boolean {
  for (let cut = 0; cut <= text.length; cut++) {
    if ([text.slice(0, cut), text.slice(cut)].every((part) => KEYBOARD_WALKS.some((walk) => walk.includes(part))))
      return true;
  }
  return false;
}

/** `Password2024!`, `p@ssw0rd123`, `welcomewelcome1`, `admin-admin`. */
function isCommonWordWithSuffix(text: string): boolean {
  const core = text.replace(/^[^a-z]{0,4}/, '').replace(/[^a-z]*$/, '');
  const spelled = [...text.replace(/[\d!?.@#$*_-]{1,8}$/, '')].map((char) => LOOKALIKES[char] ?? char).join('');
  return [core, spelled, text].some((candidate) => COMMON_WORDS.has(candidate) || isRepeatedCommonWord(candidate));
}

/** Repetitions of one word only: a combination of two different words is less common. */
function isRepeatedCommonWord(text: string): boolean {
  const word = text.slice(0, text.length >> 1);
  return COMMON_WORDS.has(word) && text.slice(word.length).replace(/^[-_.]/, '') === word;
}

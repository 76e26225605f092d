/**
 * Generates the mutants of a source file. TypeScript is mutated by the positions of its syntax tree, so that layout and
 * place of the code do not matter. Log lines and invariants are left alone: no test has to notice them.
 */
import ts from 'typescript';
import { createMutant, type Mutant } from './mutant.js';
import { type Edit, listLuaEdits, listSqlEdits, listSwaps } from './text-operators.js';

const swapTokens = (operator: string, words: string): [string, readonly [operator: string, replacement: string]][] =>
  listSwaps(words).map(([from, to]) => [from, [operator, to]]);
const SWAPPED_TOKENS = new Map([
  ...swapTokens('boundary', '< <= > >='),
  ...swapTokens('equality', '=== !=='),
  ...swapTokens('logic', '&& ||'),
  ...swapTokens('arithmetic', '+ - * / += -= ++ --'),
]);
const SWAPPED_METHODS = new Map(listSwaps('some every startsWith endsWith push unshift shift pop'));
const SWAPPED_MATH = new Map(listSwaps('min max floor ceil'));

const UNTESTED_STATEMENT = /^(?:await )?(?:[\w.#]*\blog(?:ger)?\??\.(?:debug|info|warn|error|fatal)|invariant)\(/;
const SQL_TAG = /(?:^|\.)#?(?:sql|tx|step|connection|run)$/;
const SMALL_NUMBER_MAX = 1_000;

export function listMutants(file: string, source: string): readonly Mutant[] {
  const edits = file.endsWith('.lua') ? listLuaEdits(source) : listTypeScriptEdits(file, source);
  return edits.map((edit) => createMutant(file, source, edit)).sort((a, b) => a.start - b.start || a.end - b.end);
}

function listTypeScriptEdits(file: string, source: string): readonly Edit[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const edits: Edit[] = [];
  const add = (node: ts.Node, operator: string, replacement: string, end: ts.Node = node): void => {
    edits.push({ start: node.getStart(tree), end: end.getEnd(), replacement, operator });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || isUntested(node)) return;
    mutateStatement(node, add);
    mutateCondition(node, add);
    mutateBinary(node, add);
    mutateUnary(node, add);
    mutateLiteral(node, add);
    mutateCall(node, add);
    if (ts.isTaggedTemplateExpression(node) && SQL_TAG.test(node.tag.getText()))
      edits.push(...mutateSql(node.template));
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(tree, visit);
  return edits;
}

/** Leaves `${…}` to the operators for TypeScript. */
function mutateSql(template: ts.TemplateLiteral): readonly Edit[] {
  const offset = template.getStart();
  const spans = ts.isTemplateExpression(template) ? template.templateSpans : [];
  return listSqlEdits(template.getText())
    .map((edit) => ({ ...edit, start: edit.start + offset, end: edit.end + offset }))
    .filter(({ start }) => !spans.some(({ expression, literal }) => start >= expression.pos && start < literal.pos));
}

type Add = (node: ts.Node, operator: string, replacement: string, end?: ts.Node) => void;

const isUntested = (node: ts.Node): boolean =>
  ts.isExpressionStatement(node) && UNTESTED_STATEMENT.test(node.getText());

/** Statements whose effect can be dropped; declarations stay. */
function mutateStatement(node: ts.Node, add: Add): void {
  if (ts.isExpressionStatement(node) && !node.getText().startsWith('super(')) add(node, 'statement dropped', ';');
  if (ts.isReturnStatement(node) && !isLastOfFunction(node)) add(node, 'early return dropped', ';');
  if (ts.isThrowStatement(node)) add(node, 'throw dropped', ';');
  if (ts.isContinueStatement(node) || ts.isBreakStatement(node)) add(node, 'jump dropped', ';');
  if (!ts.isBlock(node)) return;
  for (const [i, first] of node.statements.entries()) {
    const second = node.statements[i + 1];
    if (second === undefined || !isCallStatement(first) || !isCallStatement(second)) continue;
    add(first, 'steps swapped', `${second.getText()} ${first.getText()}`, second);
  }
}

const isLastOfFunction = ({ parent, end }: ts.Node): boolean =>
  ts.isBlock(parent) && ts.isFunctionLike(parent.parent) && parent.statements.at(-1)!.end === end;

function isCallStatement(node: ts.Node): boolean {
  if (!ts.isExpressionStatement(node) || isUntested(node)) return false;
  const { expression } = node;
  return ts.isCallExpression(ts.isAwaitExpression(expression) ? expression.expression : expression);
}

/** Negates conditions that no other operator inverts. */
function mutateCondition(node: ts.Node, add: Add): void {
  const condition =
    ts.isIfStatement(node) || ts.isWhileStatement(node) || ts.isDoStatement(node)
      ? node.expression
      : ts.isConditionalExpression(node) || ts.isForStatement(node)
        ? node.condition
        : undefined;
  if (condition === undefined || ts.isPrefixUnaryExpression(condition)) return;
  if (ts.isBinaryExpression(condition) && /^[=!]==$/.test(condition.operatorToken.getText())) return;
  add(condition, 'condition negated', `!(${condition.getText()})`);
}

const isText = (node: ts.Expression): boolean =>
  ts.isStringLiteralLike(node) ||
  ts.isTemplateExpression(node) ||
  (ts.isBinaryExpression(node) && (isText(node.left) || isText(node.right)));

function mutateBinary(node: ts.Node, add: Add): void {
  if (!ts.isBinaryExpression(node)) return;
  const { left, right, operatorToken } = node;
  const token = operatorToken.getText();
  if (token === '??') {
    add(node, 'default dropped', left.getText());
    add(node, 'value dropped before ??', `(${right.getText()})`);
  }
  const [operator, replacement] = SWAPPED_TOKENS.get(token) ?? [];
  if (operator === undefined || (/^\+=?$/.test(token) && (isText(left) || isText(right)))) return;
  const isMixedLogic = operator === 'logic' && [left, right].some((side) => /\?\?/.test(side.getText()));
  if (!isMixedLogic) add(operatorToken, operator, replacement!);
}

function mutateUnary(node: ts.Node, add: Add): void {
  if (ts.isAwaitExpression(node)) add(node, 'await dropped', node.expression.getText());
  const isMember = ts.isPropertyAccessExpression(node);
  if ((isMember || ts.isCallExpression(node) || ts.isElementAccessExpression(node)) && node.questionDotToken) {
    add(node.questionDotToken, 'optional chaining dropped', isMember ? '.' : '');
  }
  if (!ts.isPrefixUnaryExpression(node) && !ts.isPostfixUnaryExpression(node)) return;
  const operand = node.operand.getText();
  const token = ts.tokenToString(node.operator)!;
  if (token === '!' || token === '-') add(node, token === '!' ? 'negation dropped' : 'arithmetic', operand);
  const swapped = token.length === 2 ? SWAPPED_TOKENS.get(token)![1] : undefined;
  if (swapped !== undefined) {
    add(node, 'arithmetic', ts.isPrefixUnaryExpression(node) ? `${swapped}${operand}` : `${operand}${swapped}`);
  }
}

function mutateLiteral(node: ts.Node, add: Add): void {
  if (node.kind === ts.SyntaxKind.TrueKeyword) add(node, 'boolean', 'false');
  if (node.kind === ts.SyntaxKind.FalseKeyword) add(node, 'boolean', 'true');
  const isName = ts.isPropertyAssignment(node.parent) && node.parent.name === node;
  if (ts.isNumericLiteral(node) && !isName) {
    const value = Number(node.text);
    add(node, 'constant', String(value < SMALL_NUMBER_MAX ? value + 1 : value * 2));
  }
  if (ts.isBigIntLiteral(node)) add(node, 'constant', `(${node.getText()} + 1n)`);
  // A key of several parts: without one of them keys collide. Templates with spaces are texts for people.
  if (!ts.isTemplateExpression(node) || ts.isTaggedTemplateExpression(node.parent)) return;
  const texts = [node.head, ...node.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join('');
  if (node.templateSpans.length < 2 || /\s/.test(texts)) return;
  for (const { expression } of node.templateSpans) add(expression, 'part of a key dropped', "''");
}

function mutateCall(node: ts.Node, add: Add): void {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return;
  const { expression: object, name } = node.expression;
  const swapped = (object.getText() === 'Math' ? SWAPPED_MATH : SWAPPED_METHODS).get(name.text);
  if (swapped !== undefined) add(name, 'method swapped', swapped);
  if (name.text === 'filter' && node.arguments.length === 1) add(node, 'filter dropped', object.getText());
}

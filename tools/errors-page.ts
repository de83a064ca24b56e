import { errorCodes } from '../src/errors/codes.ts'

/** docs/errors.md, from the table of codes. */
export function renderErrorsPage(): string {
  const rows = Object.entries(errorCodes).map(
    ([code, { exitCode, retryable, hint }]) =>
      `| \`${code}\` | ${exitCode} | ${retryable ? 'yes' : 'no'} | ${hint.replaceAll('|', '\\|')} |`,
  )
  return `# Errors

Every failure that Sallyport foresaw has a code. The first line of the message says what happened, with the values in it; the
second says what to do. \`--json\` prints both, with the code. An error without a code is a bug: please report it with its stack.

\`mirror\` ends with a bit mask instead: 1 generic, 2 release, 4 operator, 8 additional images, 16 Helm charts.

| code | exit status | may succeed when repeated | what to do |
|---|---|---|---|
${rows.join('\n')}
`
}

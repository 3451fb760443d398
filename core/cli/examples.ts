import type { Command } from 'commander'

/** Commands whose help is one list of examples; those that have more to say stand beside their command. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  'keys list': ['umg keys list', 'umg keys list --status active --query ci'],
  'keys edit': ['umg keys edit key_7Fq2mN4x --models "openai/*" "acme/*"', 'umg keys edit key_7Fq2mN4x --expires never'],
  'keys rotate': ['umg keys rotate key_7Fq2mN4x', 'umg keys rotate key_7Fq2mN4x --overlap 7d'],
  'keys revoke': ['umg keys revoke key_7Fq2mN4x'],
  'accounts list': ['umg accounts list', 'umg accounts list --json'],
  'accounts create': ['umg accounts create --name Research --models "openai/*" "acme/*" --class batch'],
  'accounts edit': ['umg accounts edit acc_3kPz --class batch', 'umg accounts edit acc_3kPz --models "acme/*"'],
  'users list': ['umg users list', 'umg users list --json'],
  'users invite': ['umg users invite ann@example.com', 'umg users invite bob@example.com --role admin --account acc_3kPz'],
  'users invitations': ['umg users invitations', 'umg users invitations --json'],
  'users withdraw': ['umg users withdraw inv_5Tq8'],
  'users edit': ['umg users edit usr_9Xb1 --role admin'],
  'users disable': ['umg users disable usr_9Xb1'],
  'users enable': ['umg users enable usr_9Xb1'],
  'users end-sessions': ['umg users end-sessions usr_9Xb1'],
  audit: ['umg audit --action key --actor ann', 'umg audit --from 2027-01-01 --limit 500 --json'],
  'requests list': [
    'umg requests list --fault upstream --limit 20',
    'umg requests list --from 2027-01-01 --format csv > january.csv',
  ],
  'requests show': ['umg requests show req_8hTz2'],
  usage: ['umg usage --from 2027-01-01 --to 2027-02-01', 'umg usage --group key --step day --format csv > usage.csv'],
}

/** Adds these examples to the help of their commands. */
export function addExamples(umg: Command, above: readonly string[] = []): void {
  for (const command of umg.commands) {
    const name = [...above, command.name()]
    const examples = EXAMPLES[name.join(' ')]
    if (examples) command.addHelpText('after', `\nExamples:\n${examples.map((example) => `  ${example}\n`).join('')}`)
    addExamples(command, name)
  }
}

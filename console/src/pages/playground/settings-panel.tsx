import { Group, NumberInput, Stack, Switch, Textarea } from '@mantine/core'
import { ModelSelect } from '../../ui/model-select.tsx'
import { KeyChoice, type KeyChoiceProps } from './key-choice.tsx'
import type { Settings } from './settings.ts'

/** The settings, and the handler of changes. */
export interface SettingsPanelProps extends KeyChoiceProps {
  readonly settings: Settings
  readonly onChange: (changes: Partial<Settings>) => void
}

/** Model, key and parameters. */
export function SettingsPanel({ settings, create, onChange }: SettingsPanelProps) {
  const { model, system, temperature, topP, maxTokens, stream } = settings
  return (
    <Stack>
      <ModelSelect label="Model" value={model} onChange={(next) => onChange({ model: next })} />
      <KeyChoice create={create} />
      <Textarea
        label="System message"
        placeholder="How the model should behave"
        autosize
        minRows={2}
        maxRows={8}
        value={system}
        onChange={({ currentTarget }) => onChange({ system: currentTarget.value })}
      />
      <Group grow align="flex-start">
        <NumberInput
          label="Temperature"
          placeholder="Default"
          min={0}
          max={2}
          step={0.1}
          value={temperature}
          onChange={(next) => onChange({ temperature: String(next) })}
        />
        <NumberInput
          label="Top P"
          placeholder="Default"
          min={0}
          max={1}
          step={0.05}
          value={topP}
          onChange={(next) => onChange({ topP: String(next) })}
        />
      </Group>
      <NumberInput
        label="Max tokens"
        placeholder="Default"
        min={1}
        step={256}
        allowDecimal={false}
        value={maxTokens}
        onChange={(next) => onChange({ maxTokens: String(next) })}
      />
      <Switch
        label="Stream the reply"
        checked={stream}
        onChange={({ currentTarget }) => onChange({ stream: currentTarget.checked })}
      />
    </Stack>
  )
}

import { Combobox, Group, Kbd, Modal, Text, TextInput, useCombobox } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { useSignedIn } from '../api/session.ts'
import styles from './jump-list.module.css'
import { closeJumpList, openJumpList, useJumpListOpen } from './jump-list-state.ts'
import { jumpsFor } from './jumps.ts'

/** ⌘K or Ctrl-K: a page, an action or a request id, by a few letters. */
export function JumpList() {
  const open = useJumpListOpen()
  useHotkeys([['mod+K', openJumpList]], [])
  return (
    <Modal
      opened={open}
      onClose={closeJumpList}
      withCloseButton={false}
      padding={0}
      size={520}
      yOffset="12vh"
      centered={false}
      aria-label="Jump to a page"
      transitionProps={{ duration: 100 }}
    >
      <Jumps />
    </Modal>
  )
}

function Jumps() {
  const [text, setText] = useState('')
  const { user } = useSignedIn()
  const navigate = useNavigate()
  const combobox = useCombobox({ opened: true })
  const jumps = jumpsFor(text, user.role)
  function go(path: string): void {
    closeJumpList()
    void navigate(path)
  }
  return (
    <Combobox store={combobox} onOptionSubmit={go}>
      <Combobox.EventsTarget>
        <TextInput
          data-autofocus
          aria-label="Where to"
          placeholder="A page, or a request id"
          variant="unstyled"
          size="md"
          px="md"
          leftSection={<IconSearch size={18} />}
          rightSection={<Kbd size="xs">Esc</Kbd>}
          rightSectionWidth={56}
          value={text}
          onChange={({ currentTarget }) => {
            setText(currentTarget.value)
            combobox.selectFirstOption()
          }}
        />
      </Combobox.EventsTarget>
      <Combobox.Options className={styles.options} aria-label="Where to">
        {jumps.map(({ path, name, icon: Icon, hint }, index) => (
          <Combobox.Option key={path} value={path} selected={index === 0 && combobox.getSelectedOptionIndex() < 0}>
            <Group gap="sm">
              <Icon size={17} stroke={1.7} aria-hidden="true" />
              <Text size="sm">{name}</Text>
              <Text size="xs" c="dimmed" ml="auto">
                {hint}
              </Text>
            </Group>
          </Combobox.Option>
        ))}
        {jumps.length === 0 && <Combobox.Empty>Nothing is called that.</Combobox.Empty>}
      </Combobox.Options>
    </Combobox>
  )
}

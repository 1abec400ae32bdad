// SPDX-License-Identifier: GPL-3.0-or-later
import { mount } from 'svelte';
import App from './App.svelte';
import './app.css';

const place = document.getElementById('app')!;
place.replaceChildren(); // what the server shows to browsers without scripts
mount(App, { target: place });
